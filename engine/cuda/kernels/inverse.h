#pragma once
// Arguments of the kernel in inverse.cuh.
#include <cstdint>

namespace loom::cuda {

inline constexpr int kInverseThreads = 256;

// y = x^-1 of each matrix of n x n numbers, row by row; all NaN where there is none. A block takes a matrix.
struct InverseArguments {
  const float* x = nullptr;
  float* y = nullptr;
  std::int64_t matrices = 0;
  int n = 1;  // at most ops::kWidestInverse
};

}  // namespace loom::cuda
