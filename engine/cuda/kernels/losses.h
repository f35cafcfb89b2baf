#pragma once
// Arguments of the kernels in losses.cuh: losses that are a mean over all elements of f(x, target), both in f32.
#include <cstdint>

namespace loom::cuda {

enum class ElementwiseLoss {
  binaryCrossEntropy,
  binaryCrossEntropyFromLogits,
  meanSquaredError,
  huber,
  rightAnswer,  // 1 where x is on the side of the threshold on which target is of 0.5
};

struct LossFunction {
  ElementwiseLoss loss = ElementwiseLoss::meanSquaredError;
  // huber: delta; rightAnswer: the threshold; binaryCrossEntropy: the least distance of a probability from 0 and 1
  float constant = 1;
};

// sums[b] = sum of f over the elements of block b.
struct LossArguments {
  const float *x = nullptr, *target = nullptr;
  float* sums = nullptr;
  std::int64_t count = 1;
  LossFunction f;
};

// dx = *scale / count f'(x, target), in T; may stand where x does when T is f32.
struct LossGradientArguments {
  const float *x = nullptr, *target = nullptr, *scale = nullptr;
  void* dx = nullptr;
  std::int64_t count = 1;
  LossFunction f;
};

inline constexpr int kLossThreads = 256;

}  // namespace loom::cuda
