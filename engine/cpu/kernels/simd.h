#pragma once
// Sixteen floats at a time, in the compiler's vector extension: one zmm register, two ymm or four xmm, as the caller's
// target allows. Everything is always inlined into a LOOM_CPU_KERNEL body.
#include <cstdint>
#include <cstring>

#include "engine/cpu/kernels/isa.h"
#include "engine/cpu/kernels/stored.h"

namespace loom::cpu {

constexpr std::int64_t kLanes = 16;
typedef float Vec __attribute__((vector_size(64)));
typedef std::int32_t VecI __attribute__((vector_size(64)));
typedef std::uint32_t VecU __attribute__((vector_size(64)));
typedef float VecUnaligned __attribute__((vector_size(64), aligned(4), may_alias));

LOOM_INLINE Vec load(const float* p) {
  return *reinterpret_cast<const VecUnaligned*>(p);
}
LOOM_INLINE void store(float* p, Vec v) {
  *reinterpret_cast<VecUnaligned*>(p) = v;
}
LOOM_INLINE Vec splat(float value) {
  return value - Vec{};
}  // x - 0 is x, also for -0: no instruction
// The last, partial vector of a row.
LOOM_INLINE Vec loadPart(const float* p, std::int64_t count, float otherwise = 0) {
  alignas(64) float buffer[kLanes];
  for (std::int64_t i = 0; i < kLanes; ++i) buffer[i] = otherwise;
  for (std::int64_t i = 0; i < count; ++i) buffer[i] = p[i];
  return *reinterpret_cast<Vec*>(buffer);
}
LOOM_INLINE void storePart(float* p, Vec v, std::int64_t count) {
  alignas(64) float buffer[kLanes];
  *reinterpret_cast<Vec*>(buffer) = v;
  for (std::int64_t i = 0; i < count; ++i) p[i] = buffer[i];
}
// At most a whole vector: what is beyond `count` reads as `otherwise` and is not written.
LOOM_INLINE Vec loadSome(const float* p, std::int64_t count, float otherwise = 0) {
  return count >= kLanes ? load(p) : loadPart(p, count, otherwise);
}
LOOM_INLINE void storeSome(float* p, Vec v, std::int64_t count) {
  if (count >= kLanes) {
    store(p, v);
  } else {
    storePart(p, v, count);
  }
}
// By the bits: together with an ordered comparison, `x != x` becomes an unordered one, which GCC 12 computes lane by
// lane.
LOOM_INLINE VecI isNan(Vec x) {
  return ((VecI)x & 0x7fffffff) > 0x7f800000;
}

// The same of numbers in either type, from the `at`-th one on; rounded as engine/base/bf16.h says.
typedef std::uint16_t VecHalf __attribute__((vector_size(32)));
typedef std::uint16_t VecHalfUnaligned __attribute__((vector_size(32), aligned(2), may_alias));
LOOM_INLINE Vec loadHalf(const std::uint16_t* p, std::int64_t count) {
  alignas(32) std::uint16_t buffer[kLanes] = {};
  if (count < kLanes) {
    for (std::int64_t i = 0; i < count; ++i) buffer[i] = p[i];
    p = buffer;
  }
  return (Vec)(__builtin_convertvector(*reinterpret_cast<const VecHalfUnaligned*>(p), VecU) << 16);
}
LOOM_INLINE void storeHalf(std::uint16_t* p, Vec v, std::int64_t count) {
  const VecU bits = (VecU)v, rounded = bits + 0x7fff + ((bits >> 16) & 1);
  const VecHalf half = __builtin_convertvector((isNan(v) ? bits | 0x400000 : rounded) >> 16, VecHalf);
  if (count >= kLanes) {
    *reinterpret_cast<VecHalfUnaligned*>(p) = half;
  } else {
    for (std::int64_t i = 0; i < count; ++i) p[i] = half[i];
  }
}
LOOM_INLINE Vec loadSome(const Stored& from, std::int64_t at, std::int64_t count) {
  return from.bf16 ? loadHalf(reinterpret_cast<const std::uint16_t*>(from.at) + at, count)
                   : loadSome(reinterpret_cast<const float*>(from.at) + at, count);
}
LOOM_INLINE void storeSome(const Stored& to, std::int64_t at, Vec v, std::int64_t count) {
  if (to.bf16) {
    storeHalf(reinterpret_cast<std::uint16_t*>(to.at) + at, v, count);
  } else {
    storeSome(reinterpret_cast<float*>(to.at) + at, v, count);
  }
}
// The same numbers, of which the compiler is told what the caller has seen: they are in f32, or in bf16. Short loops
// over windows lose a quarter of their time to a choice of the type at each load.
LOOM_INLINE Stored knownF32(const Stored& numbers) {
  return {numbers.at, false};
}
LOOM_INLINE Stored knownBf16(const Stored& numbers) {
  return {numbers.at, true};
}
LOOM_INLINE Vec max(Vec a, Vec b) {
  return a > b ? a : b;
}
LOOM_INLINE Vec min(Vec a, Vec b) {
  return a < b ? a : b;
}
// All lanes joined into one number: each with the one eight further on, then four, two, one.
template <class F>
LOOM_INLINE float across(Vec v, F join) {
  v = join(v, __builtin_shuffle(v, VecI{8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7}));
  v = join(v, __builtin_shuffle(v, VecI{4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11}));
  v = join(v, __builtin_shuffle(v, VecI{2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13}));
  v = join(v, __builtin_shuffle(v, VecI{1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14}));
  return v[0];
}
LOOM_INLINE float sum(Vec v) {
  return across(
      v, [](Vec a, Vec b) __attribute__((always_inline)) { return a + b; });
}
LOOM_INLINE float maximum(Vec v) {
  return across(
      v, [](Vec a, Vec b) __attribute__((always_inline)) { return max(a, b); });
}
// v where the condition holds, else 0; NaN and all. (A choice between a load of either type and 0 ends GCC 14.)
LOOM_INLINE Vec where(VecI condition, Vec v) {
  return (Vec)((VecI)v & condition);
}
LOOM_INLINE Vec absolute(Vec a) {
  return (Vec)((VecI)a & 0x7fffffff);
}

// to[c * toStride + r] = from[r * fromStride + c] for 16 x 16 numbers, in registers: pairs, then fours, eights,
// sixteens.
LOOM_INLINE void transpose16(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride) {
  Vec rows[16], next[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) rows[i] = load(from + i * fromStride);
  constexpr VecI kLow1{0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30},
      kHigh1{1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31};
  constexpr VecI kLow2{0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29},
      kHigh2{2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31};
  constexpr VecI kLow4{0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27},
      kHigh4{4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31};
  constexpr VecI kLow8{0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23},
      kHigh8{8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31};
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    next[i] =
        (i & 1) == 0 ? __builtin_shuffle(rows[i], rows[i ^ 1], kLow1) : __builtin_shuffle(rows[i ^ 1], rows[i], kHigh1);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    rows[i] =
        (i & 2) == 0 ? __builtin_shuffle(next[i], next[i ^ 2], kLow2) : __builtin_shuffle(next[i ^ 2], next[i], kHigh2);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    next[i] =
        (i & 4) == 0 ? __builtin_shuffle(rows[i], rows[i ^ 4], kLow4) : __builtin_shuffle(rows[i ^ 4], rows[i], kHigh4);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i)
    rows[i] =
        (i & 8) == 0 ? __builtin_shuffle(next[i], next[i ^ 8], kLow8) : __builtin_shuffle(next[i ^ 8], next[i], kHigh8);
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) store(to + i * toStride, rows[i]);
}

// The same number in all lanes of V, as splat().
template <class V>
LOOM_INLINE V splatOf(float value) {
  return value - V{};
}

// e^x for x from -87.336 to 88.722: x = n ln 2 + r, a polynomial of degree 6 for e^r (Cephes expf); about 1 ulp.
template <class V>
LOOM_INLINE V boundedExp(V x) {
  typedef std::uint32_t Bits __attribute__((vector_size(sizeof(V))));
  const V shifted = x * 1.44269504088896341f + 12582912.0f;
  const V n = shifted - 12582912.0f;
  V r = x - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  V p = splatOf<V>(1.9875691500e-4f);
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  // n stands in the lower bits of `shifted`: it is added to the exponent.
  return (V)((Bits)p + ((Bits)shifted << 23));
}
// NaN stays NaN, overflow is inf.
LOOM_INLINE Vec exp(Vec x) {
  const Vec y = boundedExp(min(max(x, splat(-87.336f)), splat(88.722f)));
  const Vec limited = x > 88.722f ? splat(__builtin_inff()) : (x < -103.0f ? splat(0.0f) : y);
  return x == x ? limited : x;
}

LOOM_INLINE Vec sigmoid(Vec x) {
  return 1.0f / (1.0f + exp(-x));
}

template <class V>
struct Ratio {
  V over, under;
};

// A rational approximation (odd degree 13 over even degree 6, as in Eigen) within the limit; a few ulp.
constexpr float kTanhLimit = 7.90531110763549805f;
template <class V>
LOOM_INLINE Ratio<V> tanhRatio(V b) {
  const V s = b * b;
  V p = splatOf<V>(-2.76076847742355e-16f);
  p = p * s + 2.00018790482477e-13f;
  p = p * s + -8.60467152213735e-11f;
  p = p * s + 5.12229709037114e-08f;
  p = p * s + 1.48572235717979e-05f;
  p = p * s + 6.37261928875436e-04f;
  p = p * s + 4.89352455891786e-03f;
  V q = splatOf<V>(1.19825839466702e-06f);
  q = q * s + 1.18534705686654e-04f;
  q = q * s + 2.26843463243900e-03f;
  q = q * s + 4.89352518554385e-03f;
  return {b * p, q};
}
// NaN stays NaN.
LOOM_INLINE Vec tanh(Vec x) {
  const Ratio<Vec> ratio = tanhRatio(min(max(x, splat(-kTanhLimit)), splat(kTanhLimit)));
  const Vec y = ratio.over / ratio.under;
  return x == x ? y : x;
}

// The error function, rational (odd degree 13 over even degree 8) within the limit, |error| below 2e-7.
constexpr float kErfLimit = 4;
template <class V>
LOOM_INLINE Ratio<V> erfRatio(V b) {
  const V s = b * b;
  V p = splatOf<V>(-2.72614225801306e-10f);
  p = p * s + 2.77068142495902e-08f;
  p = p * s + -2.10102402082508e-06f;
  p = p * s + -5.69250639462346e-05f;
  p = p * s + -7.34990630326855e-04f;
  p = p * s + -2.95459980854025e-03f;
  p = p * s + -1.60960333262415e-02f;
  V q = splatOf<V>(-1.45660718464996e-05f);
  q = q * s + -2.13374055278905e-04f;
  q = q * s + -1.68282697438203e-03f;
  q = q * s + -7.37332916720468e-03f;
  q = q * s + -1.42647390514189e-02f;
  return {b * p, q};
}
LOOM_INLINE Vec erf(Vec x) {
  const Ratio<Vec> ratio = erfRatio(min(max(x, splat(-kErfLimit)), splat(kErfLimit)));
  const Vec y = ratio.over / ratio.under;
  return x == x ? y : x;
}

}  // namespace loom::cpu
