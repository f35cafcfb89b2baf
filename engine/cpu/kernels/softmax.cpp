#include "engine/cpu/kernels/softmax.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/kernels/native.h"

namespace loom::cpu {
namespace {

template <class V>
LOOM_INLINE float highest(const float* x, std::int64_t count) {
  V best = splatOfAll<V>(-__builtin_inff()), nan{};
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const V v = loadSomeOf<V>(x + i, count - i, -__builtin_inff());
    best = max(best, v);
    nan = choose(isNan(v), v, nan);
  }
  return maximum(choose(isNan(nan), nan, best)) + 0 * sum(nan);
}

template <Level kNative>
LOOM_INLINE void softmaxRangeBody(const float* x, float* y, std::int64_t count) {
  typedef VecFor<kNative> V;
  const float top = highest<V>(x, count);
  V total{};
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const V e = expAs<kNative>(loadSomeOf<V>(x + i, count - i, -__builtin_inff()) - top);
    total += e;
    storeSome(y + i, e, count - i);
  }
  const float factor = 1 / sum(total);
  for (std::int64_t i = 0; i < count; i += kLanes)
    storeSome(y + i, loadSomeOf<V>(y + i, count - i, 0) * factor, count - i);
}

template <Level kNative>
LOOM_INLINE void softmaxGradientRangeBody(const float* y, const float* dy, float* dx, std::int64_t count) {
  typedef VecFor<kNative> V;
  V total{};
  for (std::int64_t i = 0; i < count; i += kLanes)
    total += loadSomeOf<V>(y + i, count - i, 0) * loadSomeOf<V>(dy + i, count - i, 0);
  const float dot = sum(total);
  for (std::int64_t i = 0; i < count; i += kLanes) {
    storeSome(dx + i, loadSomeOf<V>(y + i, count - i, 0) * (loadSomeOf<V>(dy + i, count - i, 0) - dot), count - i);
  }
}

template <Level kNative>
LOOM_INLINE float logSumExpRangeBody(const float* x, std::int64_t count) {
  typedef VecFor<kNative> V;
  const float top = highest<V>(x, count);
  if (!std::isfinite(top)) return top;
  V total{};
  for (std::int64_t i = 0; i < count; i += kLanes)
    total += expAs<kNative>(loadSomeOf<V>(x + i, count - i, -__builtin_inff()) - top);
  return top + std::log(sum(total));
}

template <Level kNative>
LOOM_INLINE void scaledProbabilitiesRangeBody(const float* x, float logSum, float factor, float* y,
                                              std::int64_t count) {
  typedef VecFor<kNative> V;
  for (std::int64_t i = 0; i < count; i += kLanes)
    storeSome(y + i, factor * expAs<kNative>(loadSomeOf<V>(x + i, count - i, 0) - logSum), count - i);
}

LOOM_CPU_KERNEL_HALVES(void, softmaxRange, (const float* x, float* y, std::int64_t count), (x, y, count))
LOOM_CPU_KERNEL_HALVES(void, softmaxGradientRange, (const float* y, const float* dy, float* dx, std::int64_t count),
                       (y, dy, dx, count))
LOOM_CPU_KERNEL_HALVES(float, logSumExpRange, (const float* x, std::int64_t count), (x, count))
LOOM_CPU_KERNEL_HALVES(void, scaledProbabilitiesRange,
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
