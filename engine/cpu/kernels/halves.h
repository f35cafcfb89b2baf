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
      x, [=](Vec8 v) __attribute__((always_inline)) {
        const Vec8 least = Vec8{} + low, most = Vec8{} + high, above = v > least ? v : least;
        return above < most ? above : most;
      });
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
// exp() beyond what boundedExp() knows, where y is what that answers.
LOOM_INLINE Vec expOutsideInHalves(Vec x, Vec y) {
  return inHalves(
      x, y, [](Vec8 a, Vec8 b) __attribute__((always_inline)) {
        const Vec8 infinite = Vec8{} + __builtin_inff(), limited = a > 88.722f ? infinite : b,
                   both = a < -103.0f ? Vec8{} : limited;
        return a == a ? both : a;
      });
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
