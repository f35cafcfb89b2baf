#pragma once
// Arguments of the kernels in classification.cuh: rows of logits in f32, one label a row, all of them in range.
#include <cstdint>

namespace loom::cuda {

// What label smoothing makes of the truth: q of the label's class and of each other one.
struct SmoothedLabel {
  float label = 1, other = 0;
};

// What log(sum e^logits) of a row is the sum of: the largest logit, and the logarithm of sum e^(logit - largest).
// Apart, so that logits of 10,000 lose no digits.
struct LogSum {
  float largest = 0, rest = 0;
};

// losses[row] = -sum_j q_j log p_j.
struct CrossEntropyArguments {
  const float* logits = nullptr;
  const std::int32_t* labels = nullptr;
  float* losses = nullptr;
  LogSum* logSums = nullptr;
  std::int64_t rows = 1, classes = 2;
  SmoothedLabel q;
  bool wholeBlock = false;  // a block a row, else a warp
};

// dlogits = *scale / rows (p - q), in T. Without `logSums` each row's is computed first. dlogits may stand where logits
// do when T is f32.
struct CrossEntropyGradientArguments {
  const float *logits = nullptr, *scale = nullptr;
  const LogSum* logSums = nullptr;
  const std::int32_t* labels = nullptr;
  void* dlogits = nullptr;
  std::int64_t rows = 1, classes = 2;
  SmoothedLabel q;
  bool wholeBlock = false;
};

// hits[row] = 1 where the label is among the k largest (of equals the smaller index first), else 0.
struct TopKArguments {
  const float* logits = nullptr;
  const std::int32_t* labels = nullptr;
  float* hits = nullptr;
  std::int64_t rows = 1, classes = 2, k = 1;
  bool wholeBlock = false;
};

}  // namespace loom::cuda
