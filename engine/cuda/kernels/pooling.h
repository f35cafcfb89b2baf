#pragma once
// Arguments of the kernels in pooling.cuh. x, y, dy, dx are in T and channels-last.
#include <cstdint>

namespace loom::cuda {

// Depth, height, width; 1 for an axis that there is not.
struct PoolingWindows {
  std::int64_t batch = 0, channels = 0;
  int input[3] = {1, 1, 1}, output[3] = {1, 1, 1}, kernel[3] = {1, 1, 1}, strides[3] = {1, 1, 1}, before[3] = {};
};

// Where in its window each maximum stands, counted from 0 in the order of the window's elements, padding included: in a
// byte where a window has no more than 256, else in 32 bits.
struct MaxPlaces {
  void* at = nullptr;
  bool wide = false;
};

// y = the first maximum of each window; a NaN wins.
struct MaxPoolingArguments {
  PoolingWindows windows;
  const void* x = nullptr;
  void* y = nullptr;  // may be null
  MaxPlaces places;   // may be null
};

// dx = the sum of dy over the windows whose maximum an element is; with y: only of those with y > 0 (x is a ReLU's
// output, whose gradient is taken in the same pass).
struct MaxPoolingGradientArguments {
  PoolingWindows windows;
  MaxPlaces places;
  const void *dy = nullptr, *y = nullptr;  // y: may be null
  void* dx = nullptr;
};

// y = mean of each window: over all of it where `includePadding`, else over what is no padding.
struct AveragePoolingArguments {
  PoolingWindows windows;
  const void* x = nullptr;
  void* y = nullptr;
  bool includePadding = false;
};

struct AveragePoolingGradientArguments {
  PoolingWindows windows;
  const void* dy = nullptr;
  void* dx = nullptr;
  bool includePadding = false;
};

}  // namespace loom::cuda
