#pragma once
// Choices between numbers for AVX2: GCC takes sixteen numbers as two registers in arithmetic, but compares and chooses
// them lane by lane, which costs five times as much. Here they are told apart into eight and eight by hand.
#include "engine/cpu/kernels/simd.h"

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
union TwoHalves {
  Vec whole;
  Vec8 half[2];
};

// simd.h's functions of eight numbers.
LOOM_INLINE Vec8 load8(const float* p) {
  typedef Vec8 Unaligned __attribute__((aligned(4), may_alias));
  return *reinterpret_cast<const Unaligned*>(p);
}
LOOM_INLINE void store8(float* p, Vec8 v) {
  typedef Vec8 Unaligned __attribute__((aligned(4), may_alias));
  *reinterpret_cast<Unaligned*>(p) = v;
}
LOOM_INLINE Vec8 bounded8(Vec8 x, float low, float high) {
  const Vec8 least = splatOf<Vec8>(low), most = splatOf<Vec8>(high), above = x > least ? x : least;
  return above < most ? above : most;
}
LOOM_INLINE Vec8 exp(Vec8 x) {
  const Vec8 y = boundedExp(bounded8(x, -87.336f, 88.722f)),
             limited = x > 88.722f ? splatOf<Vec8>(__builtin_inff()) : y, both = x < -103.0f ? Vec8{} : limited;
  return x == x ? both : x;
}
LOOM_INLINE Vec8 sigmoid(Vec8 x) {
  const Vec8 y = 1.0f / (1.0f + boundedExp(bounded8(-x, -87.0f, 85.0f)));
  return x == x ? y : x;
}
LOOM_INLINE Vec8 tanh(Vec8 x) {
  const Ratio<Vec8> ratio = tanhRatio(bounded8(x, -kTanhLimit, kTanhLimit));
  const Vec8 y = ratio.over / ratio.under;
  return x == x ? y : x;
}

template <class F>
LOOM_INLINE Vec inHalves(Vec a, F f) {
  const TwoHalves x{a};
  TwoHalves y;
  y.half[0] = f(x.half[0]);
  y.half[1] = f(x.half[1]);
  return y.whole;
}
template <class F>
LOOM_INLINE Vec inHalves(Vec a, Vec b, F f) {
  const TwoHalves x{a}, y{b};
  TwoHalves z;
  z.half[0] = f(x.half[0], y.half[0]);
  z.half[1] = f(x.half[1], y.half[1]);
  return z.whole;
}

// max(x, low), then min(x, high): a NaN becomes one of the two.
LOOM_INLINE Vec boundedInHalves(Vec x, float low, float high) {
  return inHalves(
      x, [=](Vec8 v) __attribute__((always_inline)) { return bounded8(v, low, high); });
}
LOOM_INLINE Vec maxInHalves(Vec a, Vec b) {
  return inHalves(
      a, b, [](Vec8 x, Vec8 y) __attribute__((always_inline)) { return x > y ? x : y; });
}
LOOM_INLINE Vec atLeastInHalves(Vec v, Vec floor) {
  return inHalves(
      v, floor, [](Vec8 x, Vec8 low) __attribute__((always_inline)) { return x < low ? low : x; });
}
LOOM_INLINE Vec unlessNanInHalves(Vec x, Vec y) {
  return inHalves(
      x, y, [](Vec8 a, Vec8 b) __attribute__((always_inline)) { return a == a ? b : a; });
}
// `positive` where x is above 0, else `otherwise`.
LOOM_INLINE Vec chosenInHalves(Vec x, Vec positive, Vec otherwise) {
  const TwoHalves c{x}, a{positive}, b{otherwise};
  TwoHalves y;
  y.half[0] = c.half[0] > 0.0f ? a.half[0] : b.half[0];
  y.half[1] = c.half[1] > 0.0f ? a.half[1] : b.half[1];
  return y.whole;
}
LOOM_INLINE float maximumInHalves(Vec v) {
  const TwoHalves x{v};
  Vec8 best = x.half[0] > x.half[1] ? x.half[0] : x.half[1];
  const auto with = [&](Vec8I order) __attribute__((always_inline)) {
    const Vec8 other = __builtin_shuffle(best, order);
    best = best > other ? best : other;
  };
  with(Vec8I{4, 5, 6, 7, 0, 1, 2, 3});
  with(Vec8I{2, 3, 0, 1, 6, 7, 4, 5});
  with(Vec8I{1, 0, 3, 2, 5, 4, 7, 6});
  return best[0];
}

}  // namespace loom::cpu
