#pragma once
// Arguments of the kernels in attention.cuh. T is the type of the factors of attention's products. Rows are (sample,
// head, query), a warp each; `causal`: query i sees the keys up to i.
#include <cstdint>

namespace loom::cuda {

// p = e^(scale s - l) over the keys that are seen, 0 beyond; l = log sum e^(scale s).
struct AttentionSoftmaxArguments {
  const float* scores = nullptr;  // rows x keys
  void* probabilities = nullptr;  // rows x keys; may be `scores` where T is f32
  float* statistics = nullptr;    // rows: l
  std::int64_t rows = 0, queries = 0, keys = 0;
  float scale = 1;
  bool causal = false;
};

// p as above from l, and ds = p (dp - dy . y) scale.
struct AttentionSlopeArguments {
  const float* scores = nullptr;                     // rows x keys
  const float* dp = nullptr;                         // rows x keys: dy v^T
  const float* statistics = nullptr;                 // rows
  const void *y = nullptr, *dy = nullptr;            // rows x width
  void *probabilities = nullptr, *slopes = nullptr;  // rows x keys; may be `scores` and `dp` where T is f32
  std::int64_t rows = 0, queries = 0, keys = 0, width = 0;
  float scale = 1;
  bool causal = false;
};

}  // namespace loom::cuda
