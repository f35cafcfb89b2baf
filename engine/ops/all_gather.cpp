// all_gather: y is every rank's x, one behind the other along axis 0 in the order of ranks; the same on all of them.
#include "engine/ops/communication.h"

namespace loom {
namespace all_gather_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("what is gathered", inputs[0]);
  ops::needRank("what is gathered", inputs[0], 1, 8);
  Shape y = inputs[0].shape;
  y[0] *= ops::ranksOf(attributes);
  return {ops::f32(y)};
}

// Every rank's losses read this rank's part: the sum of what they say about it.
ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  return {builder.add("reduce_scatter", {arguments.outputGradients[0]}, arguments.attributes)};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  ops::needAlone("all_gather", attributes);
  outputs[0].values = inputs[0]->values;
}

}  // namespace all_gather_op

const OpDefinition& defineAllGatherOp() {
  using namespace all_gather_op;
  static const OpDefinition op{.name = "all_gather",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "x -> y",
                               .communicates = true};
  return op;
}

}  // namespace loom
