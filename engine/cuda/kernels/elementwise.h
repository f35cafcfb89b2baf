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
  float alpha = 1;
};

}  // namespace loom::cuda
