#include "engine/cpu/kernels/softmax.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/kernels/simd.h"

namespace loom::cpu {
namespace {

LOOM_INLINE float highest(const float* x, std::int64_t count) {
  Vec best = splat(-__builtin_inff()), nan{};
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const Vec v = loadSome(x + i, count - i, -__builtin_inff());
    best = max(best, v);
    nan = isNan(v) ? v : nan;
  }
  return maximum(isNan(nan) ? nan : best) + 0 * sum(nan);
}

LOOM_INLINE void softmaxRangeBody(const float* x, float* y, std::int64_t count) {
  const float top = highest(x, count);
  Vec total{};
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const Vec e = exp(loadSome(x + i, count - i, -__builtin_inff()) - top);
    total += e;
    storeSome(y + i, e, count - i);
  }
  const float factor = 1 / sum(total);
  for (std::int64_t i = 0; i < count; i += kLanes) storeSome(y + i, loadSome(y + i, count - i, 0) * factor, count - i);
}

LOOM_INLINE void softmaxGradientRangeBody(const float* y, const float* dy, float* dx, std::int64_t count) {
  Vec total{};
  for (std::int64_t i = 0; i < count; i += kLanes)
    total += loadSome(y + i, count - i, 0) * loadSome(dy + i, count - i, 0);
  const float dot = sum(total);
  for (std::int64_t i = 0; i < count; i += kLanes) {
    storeSome(dx + i, loadSome(y + i, count - i, 0) * (loadSome(dy + i, count - i, 0) - dot), count - i);
  }
}

LOOM_INLINE float logSumExpRangeBody(const float* x, std::int64_t count) {
  const float top = highest(x, count);
  if (!std::isfinite(top)) return top;
  Vec total{};
  for (std::int64_t i = 0; i < count; i += kLanes) total += exp(loadSome(x + i, count - i, -__builtin_inff()) - top);
  return top + std::log(sum(total));
}

LOOM_INLINE void scaledProbabilitiesRangeBody(const float* x, float logSum, float factor, float* y,
                                              std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kLanes)
    storeSome(y + i, factor * exp(loadSome(x + i, count - i, 0) - logSum), count - i);
}

LOOM_CPU_KERNEL(void, softmaxRange, (const float* x, float* y, std::int64_t count), (x, y, count))
LOOM_CPU_KERNEL(void, softmaxGradientRange, (const float* y, const float* dy, float* dx, std::int64_t count),
                (y, dy, dx, count))
LOOM_CPU_KERNEL(float, logSumExpRange, (const float* x, std::int64_t count), (x, count))
LOOM_CPU_KERNEL(void, scaledProbabilitiesRange,
                (const float* x, float logSum, float factor, float* y, std::int64_t count),
                (x, logSum, factor, y, count))

}  // namespace

void softmaxRow(const float* x, float* y, std::int64_t count) {
  softmaxRange(x, y, count);
}
void softmaxGradientRow(const float* y, const float* dy, float* dx, std::int64_t count) {
  softmaxGradientRange(y, dy, dx, count);
}
float logSumExp(const float* x, std::int64_t count) {
  return logSumExpRange(x, count);
}
void scaledProbabilities(const float* x, float logSum, float factor, float* y, std::int64_t count) {
  scaledProbabilitiesRange(x, logSum, factor, y, count);
}

}  // namespace loom::cpu
