// reduce_to: y is the sum of x over the ranks on rank `root`, and 0 on the others: what broadcast_from is the gradient
// of, and the gradient of broadcast_from.
#include "engine/ops/communication.h"

namespace loom {
namespace reduce_to_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("x", inputs[0]);
  ops::rankOf(attributes, "root");
  return {inputs[0]};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  return {builder.add("broadcast_from", {arguments.outputGradients[0]}, arguments.attributes)};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  ops::needAlone("reduce_to", attributes);
  outputs[0].values = inputs[0]->values;
}

}  // namespace reduce_to_op

const OpDefinition& defineReduceToOp() {
  using namespace reduce_to_op;
  static const OpDefinition op{.name = "reduce_to",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "x -> y",
                               .reusable = {0},
                               .communicates = true};
  return op;
}

}  // namespace loom
