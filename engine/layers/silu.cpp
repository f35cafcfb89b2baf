#include "engine/layers/entry_parts.h"

namespace loom {
namespace silu_layer {

Entry entry() {
  return parts::activationEntry({
      .id = "SiLU",
      .aliases = {"Swish"},
      .summary = "x · sigmoid(x): a smooth ReLU, used by EfficientNet and many language models.",
      .help = "y = x / (1 + e⁻ˣ).\n\nElfwing et al., arXiv 1702.03118; Ramachandran et al., Searching for activation "
              "functions, arXiv 1710.05941 (as Swish with β = 1).",
  });
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return {arguments.builder.add("unary", {arguments.inputs[0]}, {{"function", std::string("silu")}})};
}

}  // namespace silu_layer

const LayerDefinition& defineSiLULayer() {
  using namespace silu_layer;
  static const LayerDefinition definition{entry(), parts::sameShape, lower};
  return definition;
}

}  // namespace loom
