// inverse: matrices in f32, a block each.
#include "engine/cuda/kernels/inverse.h"

#include <algorithm>

#include "engine/cuda/lowerings/lowerings.h"

namespace loom::cuda {
namespace {

void lowerInverse(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0];
  const std::int64_t n = plan.shape(x)[-1];
  const Operand from = plan.read(x), to = plan.write(operation.outputs[0]);
  InverseArguments arguments{.matrices = plan.shape(x).elements() / (n * n), .n = static_cast<int>(n)};
  const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(arguments.matrices, 1, 1 << 16));
  plan.kernel("inverse", {.grid = {blocks}, .block = {kInverseThreads}}, {from}, {to}, [=]() mutable {
    arguments.x = from.address<const float>();
    arguments.y = to.address<float>();
    return arguments;
  });
}

}  // namespace

LoweringRows inverseRows() {
  static const LoweringRow rows[] = {{"inverse", lowerInverse}};
  return rows;
}

}  // namespace loom::cuda
