#include "engine/layers/entry_parts.h"

namespace loom {
namespace sigmoid_layer {

Entry entry() {
  return parts::activationEntry({
      .id = "Sigmoid",
      .aliases = {"Logistic"},
      .summary = "Squeezes every number into 0 to 1: a probability, or a gate.",
      .help = "y = 1 / (1 + e⁻ˣ).\n\nBefore a BinaryCrossEntropy leave it out and let the loss work from logits: that "
              "is the same and exact where this function is flat.",
  });
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return {arguments.builder.add("unary", {arguments.inputs[0]}, {{"function", std::string("sigmoid")}})};
}

}  // namespace sigmoid_layer

const LayerDefinition& defineSigmoidLayer() {
  using namespace sigmoid_layer;
  static const LayerDefinition definition{entry(), parts::sameShape, lower};
  return definition;
}

}  // namespace loom
