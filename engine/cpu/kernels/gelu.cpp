#include "engine/cpu/kernels/gelu.h"

#include "engine/cpu/kernels/native.h"
#include "engine/cpu/kernels/several.h"

namespace loom::cpu {
namespace {

constexpr float kInverseSqrt2 = 0.70710678118654752f, kInverseSqrt2Pi = 0.39894228040143268f;

template <Level kNative, class V>
LOOM_INLINE V geluOf(V x) {
  return 0.5f * x * (1.0f + erfAs<kNative>(x * kInverseSqrt2));
}
template <Level kNative>
LOOM_INLINE void geluSome(Stored x, Stored y, std::int64_t i, std::int64_t n) {
  const auto each = [](auto v) __attribute__((always_inline)) {
    return geluOf<kNative>(v);
  };
  storeSomeAs<kNative>(y, i, inParts(loadFor<kNative>(x, i, n), each), n);
}

// Φ by Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26, whose e^(-x²/2) is the density's, too: one
// exponential and one division are enough for both.
constexpr float kOfSize = 0.3275911f * kInverseSqrt2;
constexpr float kTail[] = {0.5f * 1.061405429f, 0.5f * -1.453152027f, 0.5f * 1.421413741f, 0.5f * -0.284496736f,
                           0.5f * 0.254829592f};
template <Level kNative>
LOOM_INLINE Vec geluSlope(Vec x) {
  const Vec e = boundedExp(bounded<kNative>(-0.5f * x * x, -87.0f, 0.0f));
  const Vec t = quotient<kNative>(splat(1), bounded<kNative>(absolute(x), 0, 1e9f) * kOfSize + 1.0f);
  Vec p = splat(kTail[0]);
#pragma GCC unroll 4
  for (int i = 1; i < 5; ++i) p = p * t + kTail[i];
  const Vec tail = p * t * e;  // 1 - Φ(|x|)
  return chooseBySign<kNative>(x, 1.0f - tail, tail) + x * (e * kInverseSqrt2Pi);
}
template <Level kNative>
LOOM_INLINE Two geluSlope(Two of) {
  const Vec8 x[] = {of.low, of.high};
  Vec8 e[2], t[2], p[2];
  LOOM_FOR_EACH_OF(2) e[i] = -0.5f * x[i] * x[i];
  LOOM_FOR_EACH_OF(2) t[i] = 1.0f / (absolute(x[i]) * kOfSize + 1.0f);
  expWithinOf(e);
  polynomials(p, t, kTail);
  LOOM_FOR_EACH_OF(2) p[i] = p[i] * t[i] * e[i];
  LOOM_FOR_EACH_OF(2) p[i] = chooseBySign<kNative>(x[i], 1.0f - p[i], p[i]) + x[i] * (e[i] * kInverseSqrt2Pi);
  return {p[0], p[1]};
}
template <Level kNative>
LOOM_INLINE void geluGradientSome(Stored x, Stored dy, Stored dx, std::int64_t i, std::int64_t n) {
  const auto slope = geluSlope<kNative>(loadFor<kNative>(x, i, n));
  storeSomeAs<kNative>(dx, i, loadFor<kNative>(dy, i, n) * slope, n);
}

template <Level kNative>
LOOM_INLINE void geluAll(Stored x, Stored y, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) geluSome<kNative>(x, y, i, kLanes);
  if (i < count) geluSome<kNative>(x, y, i, count - i);
}
template <Level kNative>
LOOM_INLINE void geluRangeBody(Stored x, Stored y, std::int64_t count) {
  if (kNative && x.bf16 && y.bf16) return geluAll<kNative>(knownBf16(x), knownBf16(y), count);
  if (!x.bf16 && !y.bf16) return geluAll<kNative>(knownF32(x), knownF32(y), count);
  geluAll<kNative>(x, y, count);
}

template <Level kNative>
LOOM_INLINE void geluGradientAll(Stored x, Stored dy, Stored dx, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) geluGradientSome<kNative>(x, dy, dx, i, kLanes);
  if (i < count) geluGradientSome<kNative>(x, dy, dx, i, count - i);
}
template <Level kNative>
LOOM_INLINE void geluGradientRangeBody(Stored x, Stored dy, Stored dx, std::int64_t count) {
  if (kNative && x.bf16 && dy.bf16 && dx.bf16)
    return geluGradientAll<kNative>(knownBf16(x), knownBf16(dy), knownBf16(dx), count);
  if (!x.bf16 && !dy.bf16 && !dx.bf16) return geluGradientAll<kNative>(knownF32(x), knownF32(dy), knownF32(dx), count);
  geluGradientAll<kNative>(x, dy, dx, count);
}

LOOM_CPU_KERNEL_NATIVE(void, geluRange, (Stored x, Stored y, std::int64_t count), (x, y, count))
LOOM_CPU_KERNEL_NATIVE(void, geluGradientRange, (Stored x, Stored dy, Stored dx, std::int64_t count),
                       (x, dy, dx, count))

}  // namespace

void gelu(Stored x, Stored y, std::int64_t count) {
  geluRange(x, y, count);
}
void geluGradient(Stored x, Stored dy, Stored dx, std::int64_t count) {
  geluGradientRange(x, dy, dx, count);
}

}  // namespace loom::cpu
