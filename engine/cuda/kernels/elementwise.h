#pragma once
// Arguments of the kernels in elementwise.cuh. T of the kernel is the type of all tensors.
#include <cstdint>

#include "engine/ops/unary.h"

namespace loom::cuda {

struct UnaryArguments {
  const void* x = nullptr;
  void* y = nullptr;
  std::int64_t count = 0;
  UnaryFunction function = UnaryFunction::relu;
  float alpha = 1, beta = 0;
};

// dx = dy f'(at), where `at` is x or y, whichever unaryDerivativeFrom() says (dy itself where it says neither).
struct UnaryGradientArguments {
  const void *at = nullptr, *dy = nullptr;
  void* dx = nullptr;
  std::int64_t count = 0;
  UnaryFunction function = UnaryFunction::relu;
  bool fromOutput = false;
  float alpha = 1, beta = 0;
};

// y = factor x + offset; with `by`, y = *by x.
struct ScaleArguments {
  const void* x = nullptr;
  void* y = nullptr;
  const float* by = nullptr;
  std::int64_t count = 0;
  float factor = 1, offset = 0;
};

// y = condition != 0 ? first : second, in f32.
struct SelectArguments {
  const float *condition = nullptr, *first = nullptr, *second = nullptr;
  float* y = nullptr;
  std::int64_t count = 0;
};

}  // namespace loom::cuda
