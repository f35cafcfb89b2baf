#include "engine/layers/entry_parts.h"

namespace loom {
namespace relu_layer {

Entry entry() {
  return parts::activationEntry({
      .id = "ReLU",
      .aliases = {"Rectifier"},
      .summary = "max(x, 0): what most convolutional networks use.",
      .help = "y = max(x, 0). The gradient is 1 for x > 0 and 0 otherwise, also at 0.\n\nNair and Hinton, Rectified "
              "linear units improve restricted Boltzmann machines, ICML 2010. A unit whose input is always negative "
              "stays dead: LeakyReLU, ELU and GELU keep a slope there.",
  });
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return {arguments.builder.add("unary", {arguments.inputs[0]}, {{"function", std::string("relu")}})};
}

}  // namespace relu_layer

const LayerDefinition& defineReLULayer() {
  using namespace relu_layer;
  static const LayerDefinition definition{entry(), parts::sameShape, lower};
  return definition;
}

}  // namespace loom
