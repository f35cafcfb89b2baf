#pragma once
// Arguments of the kernels in running_mean.cuh: the mean of all batches' means so far (ops/running_mean.cpp), in f32.
#include <cstdint>

namespace loom::cuda {

// y = mean + (batch - mean) / (batches + 1), and so becomes `mean`.
struct RunningMeanArguments {
  const float *batch = nullptr, *batches = nullptr;
  float *mean = nullptr, *y = nullptr;
  std::int64_t count = 0;
};

// share = 1 / (batches + 1), and `batches` is one more. Behind the other, which reads it.
struct CountBatchArguments {
  float *batches = nullptr, *share = nullptr;
};

}  // namespace loom::cuda
