#pragma once
// Loops over ranges of numbers, sixteen at a time, for kernels of one function each.
#include "engine/cpu/kernels/halves.h"

namespace loom::cpu {

// f of each vector of V = Vec, or of V = Vec8 where the level is AVX2's.
template <Level kNative, class F>
LOOM_INLINE void map1(const float* x, float* y, std::int64_t count, F f) {
  typedef VecFor<kNative> V;
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(y + i, inParts(loadOf<V>(x + i), f));
  if (i < count) storePart(y + i, inParts(loadPartOf<V>(x + i, count - i, 1), f), count - i);
}

template <Level kNative, class F>
LOOM_INLINE void map2(const float* a, const float* b, float* y, std::int64_t count, F f) {
  typedef VecFor<kNative> V;
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(y + i, inParts(loadOf<V>(a + i), loadOf<V>(b + i), f));
  if (i < count)
    storePart(y + i, inParts(loadPartOf<V>(a + i, count - i, 1), loadPartOf<V>(b + i, count - i, 1), f), count - i);
}

#define LOOM_EACH(expression)                  \
  [=](auto x) __attribute__((always_inline)) { \
    typedef decltype(x) V;                     \
    return V(expression);                      \
  }
#define LOOM_EACH2(expression)                         \
  [=](auto a, auto b) __attribute__((always_inline)) { \
    typedef decltype(a) V;                             \
    return V(expression);                              \
  }

}  // namespace loom::cpu
