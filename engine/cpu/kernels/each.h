#pragma once
// Loops over ranges of numbers, sixteen at a time, for kernels of one function each.
#include "engine/cpu/kernels/simd.h"

namespace loom::cpu {

template <class F>
LOOM_INLINE void map1(const float* x, float* y, std::int64_t count, F f) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(y + i, f(load(x + i)));
  if (i < count) storePart(y + i, f(loadPart(x + i, count - i, 1)), count - i);
}

template <class F>
LOOM_INLINE void map2(const float* a, const float* b, float* y, std::int64_t count, F f) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(y + i, f(load(a + i), load(b + i)));
  if (i < count) storePart(y + i, f(loadPart(a + i, count - i, 1), loadPart(b + i, count - i, 1)), count - i);
}

#define LOOM_EACH(expression)                 \
  [=](Vec x) __attribute__((always_inline)) { \
    return expression;                        \
  }
#define LOOM_EACH2(expression)                       \
  [=](Vec a, Vec b) __attribute__((always_inline)) { \
    return expression;                               \
  }

}  // namespace loom::cpu
