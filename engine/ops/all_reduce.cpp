// all_reduce: the sum of each x over the ranks of a group takes x's place. Only gradients of parameters are exchanged
// like this: x is the store's memory, and nothing else reads it. `done` is 1 and shows where in the program the
// exchange may begin; it ends before the step does. By itself a process is a group of one, and nothing changes. Nothing
// flows back: what a step does with its gradients is over when they are summed.
#include "engine/ops/support.h"

namespace loom {
namespace all_reduce_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes&) {
  for (const TensorSpec& input : inputs) ops::needFloat("each tensor of a bucket", input);
  return {ops::f32(Shape{})};
}

void reference(ops::References, ops::Outputs outputs, const Attributes&) {
  outputs[0].values[0] = 1;
}

}  // namespace all_reduce_op

const OpDefinition& defineAllReduceOp() {
  using namespace all_reduce_op;
  static const OpDefinition op{.name = "all_reduce",
                               .infer = infer,
                               .reference = reference,
                               .signature = "x... -> done",
                               .flat = true,
                               .communicates = true};
  return op;
}

}  // namespace loom
