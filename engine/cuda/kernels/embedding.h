#pragma once
// Arguments of the kernels in embedding.cuh. All indices are in range.
#include <cstdint>

#include "engine/cuda/kernels/strided.h"

namespace loom::cuda {

// y[place][column] = w[indices[place]][column], in T; `count` numbers.
struct EmbeddingArguments {
  const std::int32_t* indices = nullptr;
  const float* w = nullptr;
  void* y = nullptr;
  std::int64_t count = 0;
  Divisor width;
};

// starts[r] = how many of the `count` sorted keys are less than r, for r from 0 to `rows`.
struct RowStartsArguments {
  const std::int32_t* keys = nullptr;
  std::int32_t* starts = nullptr;
  std::int64_t count = 0, rows = 1;
};

// dw[r][column] = sum of dy[place][column], dy in T, over the places at starts[r] to starts[r + 1] of `places`.
struct EmbeddingGradientArguments {
  const std::int32_t *starts = nullptr, *places = nullptr;
  const void* dy = nullptr;
  float* dw = nullptr;
  std::int64_t rows = 1, width = 1;
};

inline constexpr int kEmbeddingThreads = 256;

}  // namespace loom::cuda
