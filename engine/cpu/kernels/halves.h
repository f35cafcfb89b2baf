#pragma once
// Sixteen numbers for AVX2. GCC takes a Vec (simd.h) as two registers in arithmetic there, but compares and chooses
// lane by lane, and keeps a variable that outlives its expression in memory; sums and maxima took up to ten times as
// long. So bodies are written for VecFor<kNative>: a Vec, or with AVX2 two registers by name.
#include <type_traits>

#include "engine/cpu/kernels/simd.h"

// LOOM_CPU_KERNEL of a body with the template argument kNative, a Level: kInHalves or `false`.
#define LOOM_CPU_KERNEL_HALVES(result, name, parameters, arguments) \
  static LOOM_TARGET_AVX512 result name##Avx512 parameters {        \
    return name##Body<false> arguments;                             \
  }                                                                 \
  static LOOM_TARGET_AVX2 result name##Avx2 parameters {            \
    return name##Body<kInHalves> arguments;                         \
  }                                                                 \
  static result name##Baseline parameters {                         \
    return name##Body<false> arguments;                             \
  }                                                                 \
  result name parameters {                                          \
    switch (isa()) {                                                \
      case Isa::avx512:                                             \
        return name##Avx512 arguments;                              \
      case Isa::avx2:                                               \
        return name##Avx2 arguments;                                \
      default:                                                      \
        return name##Baseline arguments;                            \
    }                                                               \
  }

namespace loom::cpu {

// What a body is compiled for: `true` for AVX512-BF16, kInHalves for AVX2, `false` for anything else.
struct Level {
  int value = 0;
  constexpr Level(bool native) : value(native ? 1 : 0) {}
  struct Halves {};
  constexpr explicit Level(Halves) : value(2) {}
  constexpr operator bool() const { return value == 1; }
  constexpr bool inHalves() const { return value == 2; }
};
constexpr Level kInHalves{Level::Halves{}};

typedef float Vec8 __attribute__((vector_size(32)));
typedef std::int32_t Vec8I __attribute__((vector_size(32)));

template <class V>
constexpr int lanes = static_cast<int>(sizeof(V) / sizeof(float));

// simd.h's functions of eight numbers.
LOOM_INLINE Vec8 load8(const float* p) {
  typedef Vec8 Unaligned __attribute__((aligned(4), may_alias));
  return *reinterpret_cast<const Unaligned*>(p);
}
LOOM_INLINE void store8(float* p, Vec8 v) {
  typedef Vec8 Unaligned __attribute__((aligned(4), may_alias));
  *reinterpret_cast<Unaligned*>(p) = v;
}
// max(low, x), then min(high, that): a NaN stays one. (In assembler: of a comparison with a constant GCC 12 makes two
// instructions more.)
LOOM_INLINE Vec8 bounded8(Vec8 x, float low, float high) {
  Vec8 above, both;
  asm("vmaxps %2, %1, %0" : "=x"(above) : "x"(splatOf<Vec8>(low)), "x"(x));
  asm("vminps %2, %1, %0" : "=x"(both) : "x"(splatOf<Vec8>(high)), "x"(above));
  return both;
}
// e^x within -87.3 and 88, and of numbers beyond them that of the bound. As boundedExp(), but 2^n is a factor, so that
// NaN stays NaN; the polynomial, e^r = 1 + r + r^2 p(r) with the least relative error (3e-9), is shorter; and with one
// multiply-add for r, the error of ln 2 is that of the result for large |x|: 2e-7 at -87, below 3e-8 from -10 to 10.
constexpr float kExpPolynomial[] = {1.38144653994e-3f, 8.36878039011e-3f, 4.16683942429e-2f, 1.66665201077e-1f,
                                    4.99999934124e-1f};
constexpr float kLog2OfE = 1.44269504088896341f, kLn2 = 0.693147180559945309f;
constexpr float kExpShift = 12583039.0f;  // 1.5 * 2^23 + 127: added to n, its lower bits are the exponent of 2^n
LOOM_INLINE Vec8 expWithin(Vec8 x) {
  x = bounded8(x, -87.3f, 88.0f);
  const Vec8 shifted = x * kLog2OfE + kExpShift;
  const Vec8 n = shifted - kExpShift, power = (Vec8)((Vec8I)shifted << 23);
  const Vec8 r = x - n * kLn2;
  Vec8 p = splatOf<Vec8>(kExpPolynomial[0]);
#pragma GCC unroll 4
  for (int i = 1; i < 5; ++i) p = p * r + kExpPolynomial[i];
  return (p * (r * r) + r) * power + power;
}
LOOM_INLINE Vec8 exp(Vec8 x) {
  const Vec8 y = boundedExp(bounded8(x, -87.336f, 88.722f)),
             limited = x > 88.722f ? splatOf<Vec8>(__builtin_inff()) : y, both = x < -103.0f ? Vec8{} : limited;
  return x == x ? both : x;
}
// Of these three NaN stays NaN, as it does in the bounds and in every operation after them.
LOOM_INLINE Vec8 sigmoid(Vec8 x) {
  return 1.0f / (1.0f + expWithin(-x));
}
LOOM_INLINE Vec8 tanh(Vec8 x) {
  const Ratio<Vec8> ratio = tanhRatio(bounded8(x, -kTanhLimit, kTanhLimit));
  return ratio.over / ratio.under;
}
LOOM_INLINE Vec8 erf(Vec8 x) {
  const Ratio<Vec8> ratio = erfRatio(bounded8(x, -kErfLimit, kErfLimit));
  return ratio.over / ratio.under;
}
LOOM_INLINE Vec8 absolute(Vec8 a) {
  return (Vec8)((Vec8I)a & 0x7fffffff);
}
LOOM_INLINE Vec8I isNan(Vec8 x) {
  return x != x;
}
LOOM_INLINE Vec8 where(Vec8I condition, Vec8 v) {
  return (Vec8)((Vec8I)v & condition);
}

struct Two {
  Vec8 low, high;
};
struct TwoI {
  Vec8I low, high;  // conditions
};

// What a body for this level computes with.
template <Level kNative>
using VecFor = std::conditional_t<kNative.inHalves(), Two, Vec>;

#define LOOM_OF_TWO(sign)                              \
  LOOM_INLINE Two operator sign(Two a, Two b) {        \
    return {a.low sign b.low, a.high sign b.high};     \
  }                                                    \
  LOOM_INLINE Two operator sign(Two a, float b) {      \
    return {a.low sign b, a.high sign b};              \
  }                                                    \
  LOOM_INLINE Two operator sign(float a, Two b) {      \
    return {a sign b.low, a sign b.high};              \
  }                                                    \
  template <class Other>                               \
  LOOM_INLINE Two& operator sign##=(Two& a, Other b) { \
    return a = a sign b;                               \
  }
LOOM_OF_TWO(+)
LOOM_OF_TWO(-)
LOOM_OF_TWO(*)
LOOM_OF_TWO(/)
#undef LOOM_OF_TWO
#define LOOM_OF_TWO(sign)                          \
  LOOM_INLINE TwoI operator sign(Two a, Two b) {   \
    return {a.low sign b.low, a.high sign b.high}; \
  }                                                \
  LOOM_INLINE TwoI operator sign(Two a, float b) { \
    return {a.low sign b, a.high sign b};          \
  }
LOOM_OF_TWO(<)
LOOM_OF_TWO(>)
LOOM_OF_TWO(==)
LOOM_OF_TWO(!=)
#undef LOOM_OF_TWO

// condition ? a : b.
LOOM_INLINE Vec choose(VecI condition, Vec a, Vec b) {
  return condition ? a : b;
}
LOOM_INLINE Two choose(TwoI condition, Two a, Two b) {
  return {condition.low ? a.low : b.low, condition.high ? a.high : b.high};
}
LOOM_INLINE Two where(TwoI condition, Two v) {
  return {(Vec8)((Vec8I)v.low & condition.low), (Vec8)((Vec8I)v.high & condition.high)};
}
// v where `part` is 0; `part` is v or 0, to the bit.
LOOM_INLINE Vec without(Vec v, Vec part) {
  return (Vec)((VecI)v ^ (VecI)part);
}
LOOM_INLINE Two without(Two v, Two part) {
  return {(Vec8)((Vec8I)v.low ^ (Vec8I)part.low), (Vec8)((Vec8I)v.high ^ (Vec8I)part.high)};
}
LOOM_INLINE TwoI isNan(Two x) {
  return x != x;
}
// The larger one; b where either is NaN.
LOOM_INLINE Two max(Two a, Two b) {
  return choose(a > b, a, b);
}
// f of each register's numbers: of a Vec, or of two Vec8.
template <class F>
LOOM_INLINE Vec inParts(Vec v, F f) {
  return f(v);
}
template <class F>
LOOM_INLINE Two inParts(Two v, F f) {
  return {f(v.low), f(v.high)};
}
template <class F>
LOOM_INLINE Vec inParts(Vec a, Vec b, F f) {
  return f(a, b);
}
template <class F>
LOOM_INLINE Two inParts(Two a, Two b, F f) {
  return {f(a.low, b.low), f(a.high, b.high)};
}
LOOM_INLINE Two exp(Two x) {
  return {exp(x.low), exp(x.high)};
}

// simd.h's loads and stores.
LOOM_INLINE void store(float* p, Two v) {
  store8(p, v.low);
  store8(p + 8, v.high);
}
LOOM_INLINE void storePart8(float* p, Vec8 v, std::int64_t count) {
  if (count >= 8) return store8(p, v);
  alignas(32) float buffer[8];
  store8(buffer, v);
  for (std::int64_t i = 0; i < count; ++i) p[i] = buffer[i];
}
LOOM_INLINE void storePart(float* p, Two v, std::int64_t count) {
  storePart8(p, v.low, count);
  if (count > 8) storePart8(p + 8, v.high, count - 8);
}
LOOM_INLINE void storeSome(float* p, Two v, std::int64_t count) {
  count >= kLanes ? store(p, v) : storePart(p, v, count);
}
template <class V>
LOOM_INLINE V loadOf(const float* p) {
  if constexpr (std::is_same_v<V, Two>)
    return {load8(p), load8(p + 8)};
  else
    return load(p);
}
template <class V>
LOOM_INLINE V splatOfAll(float value) {
  if constexpr (std::is_same_v<V, Two>)
    return {splatOf<Vec8>(value), splatOf<Vec8>(value)};
  else
    return splat(value);
}
// The first `count` of eight, the others not read. (Numbers gathered in memory one by one are read as a vector some
// twenty cycles later.)
LOOM_INLINE Vec8 loadPart8(const float* p, std::int64_t count, float otherwise) {
  if (count >= 8) return load8(p);
  static constexpr std::int32_t kFirst[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  typedef Vec8I Unaligned __attribute__((aligned(4), may_alias));
  const Vec8I first = *reinterpret_cast<const Unaligned*>(kFirst + 8 - count);
  Vec8 v;
  asm("vmaskmovps %2, %1, %0" : "=x"(v) : "x"(first), "m"(*reinterpret_cast<const float(*)[8]>(p)));
  return (Vec8)((Vec8I)v | ((Vec8I)splatOf<Vec8>(otherwise) & ~first));
}
template <class V>
LOOM_INLINE V loadPartOf(const float* p, std::int64_t count, float otherwise) {
  if constexpr (std::is_same_v<V, Two>) {
    return {loadPart8(p, count, otherwise),
            count > 8 ? loadPart8(p + 8, count - 8, otherwise) : splatOf<Vec8>(otherwise)};
  } else {
    return loadPart(p, count, otherwise);
  }
}
template <class V>
LOOM_INLINE V loadSomeOf(const float* p, std::int64_t count, float otherwise = 0) {
  return count >= kLanes ? loadOf<V>(p) : loadPartOf<V>(p, count, otherwise);
}

// to[c * toStride + r] = from[r * fromStride + c] for 8 x 8 numbers, in registers: fours of a row and of the fourth
// after it are read side by side, so that no number has to change its half; then pairs, then fours.
template <class Put>
LOOM_INLINE void transposed8(const float* from, std::int64_t fromStride, Put put) {
  typedef float Four __attribute__((vector_size(16)));
  typedef Four FourUnaligned __attribute__((aligned(4), may_alias));
  constexpr Vec8I kLowPairs{0, 8, 1, 9, 4, 12, 5, 13}, kHighPairs{2, 10, 3, 11, 6, 14, 7, 15};
  constexpr Vec8I kLowFours{0, 1, 8, 9, 4, 5, 12, 13}, kHighFours{2, 3, 10, 11, 6, 7, 14, 15};
#pragma GCC unroll 2
  for (int half = 0; half < 8; half += 4) {
    Vec8 rows[4], next[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      const Four low = *reinterpret_cast<const FourUnaligned*>(from + i * fromStride + half),
                 high = *reinterpret_cast<const FourUnaligned*>(from + (i + 4) * fromStride + half);
      rows[i] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 4; i += 2) {
      next[i] = __builtin_shuffle(rows[i], rows[i + 1], kLowPairs);
      next[i + 1] = __builtin_shuffle(rows[i], rows[i + 1], kHighPairs);
    }
    put(half, __builtin_shuffle(next[0], next[2], kLowFours));
    put(half + 1, __builtin_shuffle(next[0], next[2], kHighFours));
    put(half + 2, __builtin_shuffle(next[1], next[3], kLowFours));
    put(half + 3, __builtin_shuffle(next[1], next[3], kHighFours));
  }
}
LOOM_INLINE void transpose8(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride) {
  transposed8(
      from, fromStride, [=](int column, Vec8 v) __attribute__((always_inline)) { store8(to + column * toStride, v); });
}
// transpose16().
template <Level kNative>
LOOM_INLINE void transpose16As(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride) {
  if constexpr (kNative.inHalves()) {
    for (std::int64_t r = 0; r < 16; r += 8)
      for (std::int64_t c = 0; c < 16; c += 8)
        transpose8(from + r * fromStride + c, fromStride, to + c * toStride + r, toStride);
  } else {
    transpose16(from, fromStride, to, toStride);
  }
}

// All lanes joined into one number.
template <class F>
LOOM_INLINE float across8(Vec8 v, F join) {
  v = join(v, __builtin_shuffle(v, Vec8I{4, 5, 6, 7, 0, 1, 2, 3}));
  v = join(v, __builtin_shuffle(v, Vec8I{2, 3, 0, 1, 6, 7, 4, 5}));
  v = join(v, __builtin_shuffle(v, Vec8I{1, 0, 3, 2, 5, 4, 7, 6}));
  return v[0];
}
LOOM_INLINE float sum(Two v) {
  return across8(
      v.low + v.high, [](Vec8 a, Vec8 b) __attribute__((always_inline)) { return a + b; });
}
LOOM_INLINE float maximum(Two v) {
  return across8(
      v.low > v.high ? v.low : v.high, [](Vec8 a, Vec8 b) __attribute__((always_inline)) { return a > b ? a : b; });
}

// bf16, rounded as engine/base/bf16.h says.
typedef std::uint32_t Vec8U __attribute__((vector_size(32)));
typedef std::uint16_t Vec8Half __attribute__((vector_size(16)));
typedef std::uint16_t Vec8HalfUnaligned __attribute__((vector_size(16), aligned(2), may_alias));
LOOM_INLINE Vec8 loadHalf8(const std::uint16_t* p) {
  return (Vec8)(__builtin_convertvector(*reinterpret_cast<const Vec8HalfUnaligned*>(p), Vec8U) << 16);
}
LOOM_INLINE void storeHalf8(std::uint16_t* p, Vec8 v) {
  const Vec8U bits = (Vec8U)v, rounded = bits + 0x7fff + ((bits >> 16) & 1);
  *reinterpret_cast<Vec8HalfUnaligned*>(p) =
      __builtin_convertvector((isNan(v) ? bits | 0x400000 : rounded) >> 16, Vec8Half);
}
LOOM_INLINE Two loadTwoHalf(const std::uint16_t* p, std::int64_t count) {
  alignas(32) std::uint16_t buffer[kLanes] = {};
  if (count < kLanes) {
    for (std::int64_t i = 0; i < count; ++i) buffer[i] = p[i];
    p = buffer;
  }
  return {loadHalf8(p), loadHalf8(p + 8)};
}
LOOM_INLINE void storeHalf(std::uint16_t* p, Two v, std::int64_t count) {
  alignas(32) std::uint16_t buffer[kLanes];
  std::uint16_t* to = count >= kLanes ? p : buffer;
  storeHalf8(to, v.low);
  storeHalf8(to + 8, v.high);
  for (std::int64_t i = 0; count < kLanes && i < count; ++i) p[i] = buffer[i];
}

}  // namespace loom::cpu
