#pragma once
// Which operations are computed together: a ReLU behind a convolution, a matrix product, a batch normalisation or an
// addition is applied before the number is first written; the sum of a residual block is taken in the normalisation's
// own pass.
#include <vector>

#include "engine/program/program.h"

namespace loom::cpu {

struct FusedOutput {
  bool skip = false;            // computed by an earlier operation
  bool relu = false;            // applied to the output
  TensorId addend = kNoTensor;  // added before the ReLU
  TensorId output = kNoTensor;  // what is written instead of outputs[0]
  // Normalisation's gradient: dy counts only where `mask` (a ReLU's output) is positive, and is read from `maskedFrom`.
  // Addition: the sum is 0 where `mask` is not positive.
  TensorId mask = kNoTensor;
  TensorId maskedFrom = kNoTensor;
};

struct Fusion {
  std::vector<FusedOutput> outputs;         // by operation
  std::vector<std::vector<int>> consumers;  // by tensor: operations that really read it; -1 for the program's end
};

Fusion planFusion(const Program& program);

}  // namespace loom::cpu
