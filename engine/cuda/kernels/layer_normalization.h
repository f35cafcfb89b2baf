#pragma once
// Arguments of the kernels in layer_normalization.cuh. x, y, dy, dx are in T, rows x length; gamma and beta have
// `length` numbers in f32 and may be null (1 and 0), statistics one a row.
#include <cstdint>

#include "engine/cuda/kernels/channels.h"

namespace loom::cuda {

// Numbers of a row that a thread keeps in registers, so that a row is read once: where a warp has a row of its own, and
// where a block has. What is beyond that in longer rows is read again.
inline constexpr int kHeldByWarp = 16, kHeldByBlock = 16;
inline constexpr int kMostRowThreads = 512;  // of a block that has a row

// y = gamma (x - mean) inverse + beta, inverse = 1 / sqrt(variance + epsilon); in place of x, too.
struct LayerNormalizationArguments {
  const void* x = nullptr;
  void* y = nullptr;
  const float *gamma = nullptr, *beta = nullptr;
  float *mean = nullptr, *inverse = nullptr;
  std::int64_t rows = 0, length = 0;
  float epsilon = 0;
};

// dx = inverse (g - mean(g) - h mean(g h)) (+ addend) with g = gamma dy, h = (x - mean) inverse; in place of dy or
// addend, too.
struct LayerGradientArguments {
  const void *x = nullptr, *dy = nullptr, *addend = nullptr;  // addend: may be null
  void* dx = nullptr;
  const float *gamma = nullptr, *mean = nullptr, *inverse = nullptr;
  std::int64_t rows = 0, length = 0;
};

// Each chunk's sums of dy h and of dy for each of the `length` columns.
struct LayerGradientSumsArguments {
  ChannelRows view;
  const void *x = nullptr, *dy = nullptr;
  const float *mean = nullptr, *inverse = nullptr;
  float* sums = nullptr;  // chunks x {dy h, dy} x length
};

// The sums over all chunks.
struct LayerParameterGradientsArguments {
  ChannelRows view;
  const float* sums = nullptr;
  float *dgamma = nullptr, *dbeta = nullptr;  // may be null
};

}  // namespace loom::cuda
