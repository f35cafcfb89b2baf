// broadcast_from: y is the x of rank `root`, on every rank. (`broadcast` is another op: it repeats numbers within a
// tensor.)
#include "engine/ops/communication.h"

namespace loom {
namespace broadcast_from_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("x", inputs[0]);
  ops::rankOf(attributes, "root");
  return {inputs[0]};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  return {builder.add("reduce_to", {arguments.outputGradients[0]}, arguments.attributes)};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  ops::needAlone("broadcast_from", attributes);
  outputs[0].values = inputs[0]->values;
}

}  // namespace broadcast_from_op

const OpDefinition& defineBroadcastFromOp() {
  using namespace broadcast_from_op;
  static const OpDefinition op{.name = "broadcast_from",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "x -> y",
                               .reusable = {0},
                               .communicates = true};
  return op;
}

}  // namespace loom
