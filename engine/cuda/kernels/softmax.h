#pragma once
// Arguments of the kernels in softmax.cuh: rows of `channels` neighbouring numbers.
#include <cstdint>

namespace loom::cuda {

// y = exp(x) / sum exp(x) of each row; y may stand where x does.
struct SoftmaxArguments {
  const void* x = nullptr;
  void* y = nullptr;
  std::int64_t rows = 1, channels = 1;
  bool wholeBlock = false;  // a block a row, else a warp
};

// dx = y (dy - sum(y dy)); dx may stand where dy does.
struct SoftmaxGradientArguments {
  const void *y = nullptr, *dy = nullptr;
  void* dx = nullptr;
  std::int64_t rows = 1, channels = 1;
  bool wholeBlock = false;
};

}  // namespace loom::cuda
