#pragma once
// Arguments of the kernels in batch_normalization.cuh. x, y, dy, dx, addend and mask are in T, rows x channels; vectors
// have one number in f32 a channel. What may be null says so.
#include "engine/cuda/kernels/channels.h"

namespace loom::cuda {

// Each chunk's mean, and its sum of squares about it, of each channel.
struct BatchMomentsArguments {
  ChannelRows view;
  const void* x = nullptr;
  float* moments = nullptr;  // chunks x {mean, squares} x channels
};

// The moments of all chunks into those of all rows:
//   mean, inverse = 1 / sqrt(variance + epsilon); running <- momentum running + (1 - momentum) batch, the variance of
//   the batch with n - 1 in its denominator there
struct BatchStatisticsArguments {
  ChannelRows view;
  const float* moments = nullptr;
  float *mean = nullptr, *inverse = nullptr;
  float *runningMean = nullptr, *runningVariance = nullptr;
  double epsilon = 0, momentum = 0;
};

// The same over ranks that each have some of the rows, in two steps. First what a rank tells the others, in f64: its
// rows, its mean of each channel, its sum of squares about it.
struct RankMomentsArguments {
  ChannelRows view;
  const float* moments = nullptr;
  double* mine = nullptr;  // 1 + 2 x channels
};
// Then all of theirs, in the order of ranks, as BatchStatisticsArguments.
struct RankStatisticsArguments {
  std::int64_t channels = 0;
  int ranks = 1;
  const double* all = nullptr;  // ranks x (1 + 2 x channels)
  float *mean = nullptr, *inverse = nullptr;
  float *runningMean = nullptr, *runningVariance = nullptr;
  double epsilon = 0, momentum = 0;
};

// y = (x - mean) gamma inverse + beta (+ addend), then max(y, 0) where `relu`. In place of x or addend, too.
struct NormaliseArguments {
  ChannelRows view;
  const void *x = nullptr, *addend = nullptr;  // addend: may be null
  void* y = nullptr;
  const float *gamma = nullptr, *beta = nullptr;    // may be null: 1 and 0
  const float *mean = nullptr, *inverse = nullptr;  // inverse: null where `variance` is given instead
  const float* variance = nullptr;
  float epsilon = 0;  // of the variance
  bool relu = false;
};

// Where a gradient counts that comes back to a ReLU: where `mask`, its output, is positive; or, `fromX`, where
// (x - mean) gamma inverse + beta is, which was all that the ReLU took.
struct ReluOfNormalised {
  const void* mask = nullptr;  // may be null: everywhere
  bool fromX = false;
  const float *gamma = nullptr, *beta = nullptr, *inverse = nullptr;  // may be null: 1, 0, 1
};

// Each chunk's sums of dy and of dy (x - mean) for each channel.
struct BatchGradientSumsArguments {
  ChannelRows view;
  const void *x = nullptr, *dy = nullptr;
  ReluOfNormalised relu;
  const float* mean = nullptr;
  float* sums = nullptr;  // chunks x {dy, dy (x - mean)} x channels
};

// dgamma = inverse sum(dy (x - mean)), dbeta = sum(dy), and what BatchGradientArguments takes: with n rows
//   a = gamma inverse, b = a inverse^2 sum(dy (x - mean)) / n, c = a sum(dy) / n
struct BatchGradientFactorsArguments {
  ChannelRows view;
  const float *sums = nullptr, *gamma = nullptr, *inverse = nullptr;  // gamma: may be null
  float *dgamma = nullptr, *dbeta = nullptr;                          // may be null
  float* factors = nullptr;                                           // {a, b, c} x channels
};

// The same over ranks: dgamma and dbeta of this rank's rows (gradients are summed later), and what it tells the others:
// its rows, its sums of dy and of dy (x - mean). Then the factors, n being the rows of all.
struct RankSumsArguments {
  ChannelRows view;
  const float *sums = nullptr, *inverse = nullptr;
  float *dgamma = nullptr, *dbeta = nullptr;  // may be null
  double* mine = nullptr;                     // 1 + 2 x channels
};
struct RankFactorsArguments {
  std::int64_t channels = 0;
  int ranks = 1;
  const double* all = nullptr;                       // ranks x (1 + 2 x channels)
  const float *gamma = nullptr, *inverse = nullptr;  // gamma: may be null
  float* factors = nullptr;                          // {a, b, c} x channels
};

// dx = a dy - b (x - mean) - c, in place of x or dy, too.
struct BatchGradientArguments {
  ChannelRows view;
  const void *x = nullptr, *dy = nullptr;
  ReluOfNormalised relu;
  void* dx = nullptr;
  const float *mean = nullptr, *factors = nullptr;
};

}  // namespace loom::cuda
