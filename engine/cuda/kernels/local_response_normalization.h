#pragma once
// Arguments of the kernels in local_response_normalization.cuh. x, y, dy, dx are in T, rows x channels. With
//   d_c = k + alpha sum of x_j^2 over the channels c - before ... c + after
#include <cstdint>

namespace loom::cuda {

struct ResponseWindow {
  std::int64_t channels = 0, before = 0, after = 0;
  float alpha = 0, beta = 0, k = 0;  // alpha: divided by the size of the window
};

// y_c = x_c d_c^-beta
struct ResponseArguments {
  ResponseWindow window;
  const void* x = nullptr;
  void* y = nullptr;
  std::int64_t count = 0;  // elements
};

// f_c = dy_c x_c d_c^(-beta - 1)
struct ResponseFactorsArguments {
  ResponseWindow window;
  const void *x = nullptr, *dy = nullptr;
  float* factors = nullptr;
  std::int64_t count = 0;
};

// dx_i = dy_i d_i^-beta - 2 alpha beta x_i sum of f_c over those c that have i in their window
struct ResponseGradientArguments {
  ResponseWindow window;
  const void *x = nullptr, *dy = nullptr;
  const float* factors = nullptr;
  void* dx = nullptr;
  std::int64_t count = 0;
};

}  // namespace loom::cuda
