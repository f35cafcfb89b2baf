#pragma once
// Arguments of the kernels in warp.cuh: images N x rows x columns x channels, T of the kernel is their type.
#include <cstdint>

#include "engine/cuda/kernels/strided.h"

namespace loom::cuda {

// y = x under the map of each sample (ops/warp.h).
struct WarpArguments {
  const void* x = nullptr;
  const float* maps = nullptr;  // `numbers` a sample
  void* y = nullptr;
  std::int64_t count = 0;  // of y
  Divisor channels, outColumns, outRows;
  int rows = 1, columns = 1, numbers = 6;
};

// dx from dy, in f32: a thread takes a channel of a sample and goes through its pixels in their order.
struct WarpGradientArguments {
  const float *dy = nullptr, *maps = nullptr;
  float* dx = nullptr;
  std::int64_t count = 0;  // samples x channels
  Divisor channels;
  int rows = 1, columns = 1, outRows = 1, outColumns = 1, numbers = 6;
};

}  // namespace loom::cuda
