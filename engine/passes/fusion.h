#pragma once
// Which operations are computed together: a ReLU behind a convolution, a matrix product, a batch normalisation or an
// addition is applied before the number is first written; the sum of a residual block is taken in the normalisation's
// own pass. What the kernels of a machine can do besides their own operation, its backend says.
#include <functional>
#include <vector>

#include "engine/program/program.h"

namespace loom {

// What a backend's kernel for one operation does in the same pass over memory where it is asked to.
struct Joins {
  bool addend = false;      // adds another tensor to what it writes
  bool relu = false;        // then applies a ReLU
  bool maskBehind = false;  // or writes 0 where another tensor (a ReLU's output) is not positive
  int masked = -1;          // reads this input, a gradient, through the mask of the ReLU that it came back to
  int gradientOf = -1;      // takes the gradient of the ReLU whose output this input is where it writes its own
};

struct FusedOutput {
  bool skip = false;            // computed by an earlier operation
  bool relu = false;            // applied to the output (its gradient, for Joins::gradientOf)
  TensorId addend = kNoTensor;  // added before the ReLU
  TensorId output = kNoTensor;  // what is written instead of outputs[0]
  // Joins::masked: the gradient counts only where `mask` (a ReLU's output) is positive, and is read from `maskedFrom`.
  // Joins::maskBehind: the output is 0 where `mask` is not positive.
  TensorId mask = kNoTensor;
  TensorId maskedFrom = kNoTensor;
};

struct Fusion {
  std::vector<FusedOutput> outputs;         // by operation
  std::vector<int> computedBy;              // by operation: itself, or the one in whose pass it is computed
  std::vector<std::vector<int>> consumers;  // by tensor: operations that really read it; -1 for the program's end
};

Fusion planFusion(const Program& program, const std::function<Joins(const Operation&)>& joinsOf);

}  // namespace loom
