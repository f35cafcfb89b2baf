#pragma once
// Arguments of the kernels in broadcast.cuh. T of the kernel is the type of all tensors.
#include <cstdint>

#include "engine/cuda/kernels/strided.h"
#include "engine/ops/binary.h"

namespace loom::cuda {

// y = f(a, b), then max(y, 0) with `relu`, or 0 where `mask` is not positive. b is repeated over a as `repeated` says;
// its innermost group goes on by 0 or 1.
struct BinaryArguments {
  const void *a = nullptr, *b = nullptr, *mask = nullptr;
  void* y = nullptr;
  std::int64_t count = 0;
  Strided repeated;
  BinaryFunction function = BinaryFunction::add;
  bool relu = false;
};

// y = x, repeated in the same way.
struct BroadcastArguments {
  const void* x = nullptr;
  void* y = nullptr;
  std::int64_t count = 0;
  Strided repeated;
};

}  // namespace loom::cuda
