#include "engine/layers/entry_parts.h"

namespace loom {
namespace tanh_layer {

Entry entry() {
  return parts::activationEntry({
      .id = "Tanh",
      .aliases = {"HyperbolicTangent"},
      .summary = "Squeezes every number into −1 to 1.",
      .help = "y = (eˣ − e⁻ˣ) / (eˣ + e⁻ˣ). It is the sigmoid stretched: 2 · σ(2x) − 1. Begin with Xavier weights.",
  });
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return {arguments.builder.add("unary", {arguments.inputs[0]}, {{"function", std::string("tanh")}})};
}

}  // namespace tanh_layer

const LayerDefinition& defineTanhLayer() {
  using namespace tanh_layer;
  static const LayerDefinition definition{entry(), parts::sameShape, lower};
  return definition;
}

}  // namespace loom
