#include "engine/layers/entry_parts.h"

namespace loom {
namespace selu_layer {

Entry entry() {
  return parts::activationEntry({
      .id = "SELU",
      .aliases = {"ScaledExponentialLinearUnit"},
      .summary = "A scaled ELU with which deep plain networks normalise themselves.",
      .help = "y = λ · x for x > 0, λ · α · (eˣ − 1) otherwise, with λ = 1.0507009873554805 and α = "
              "1.6732632423543772: mean 0 and variance 1 are then a fixed point, given LeCun normal weights and no "
              "BatchNormalization.\n\n"
              "Klambauer et al., Self-normalizing neural networks, arXiv 1706.02515.",
  });
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return {arguments.builder.add("unary", {arguments.inputs[0]}, {{"function", std::string("selu")}})};
}

}  // namespace selu_layer

const LayerDefinition& defineSELULayer() {
  using namespace selu_layer;
  static const LayerDefinition definition{entry(), parts::sameShape, lower};
  return definition;
}

}  // namespace loom
