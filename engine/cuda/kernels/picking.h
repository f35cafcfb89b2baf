#pragma once
// Arguments of the kernels in picking.cuh.
#include <cstdint>

#include "engine/cuda/kernels/strided.h"

namespace loom::cuda {

// y seen as outer x length x inner, x as outer x extent x inner: y at a is the sum over the entries k of row a of
// weights[k] x at places[k]; `fill` where there is none. T of the kernel is the type of both.
struct ResampleArguments {
  const void* x = nullptr;
  void* y = nullptr;
  const std::int32_t *starts = nullptr, *places = nullptr;
  const float* weights = nullptr;  // null: all 1
  std::int64_t count = 0;          // of y
  Divisor inner, length;
  std::int64_t extent = 1;
  float fill = 0;
};

// y[i][c] = 1 where c is indices[i], else 0. T of the kernel is y's type.
struct OneHotArguments {
  const std::int32_t* indices = nullptr;
  void* y = nullptr;
  std::int64_t count = 0;  // of y
  Divisor classes;
};

// The first k of each row of n numbers in falling (else rising) order, and their places as numbers; a warp takes a row.
// Of equal ones the first comes first, a NaN before all others.
struct OrderArguments {
  const float* x = nullptr;
  float *values = nullptr, *places = nullptr;
  std::int64_t rows = 0, n = 1, k = 1;
  bool falling = true;
};

inline constexpr int kOrderThreads = 256;

}  // namespace loom::cuda
