#include "engine/layers/entry_parts.h"

namespace loom {
namespace gelu_layer {

Entry entry() {
  return parts::activationEntry({
      .id = "GELU",
      .aliases = {"GaussianErrorLinearUnit"},
      .summary = "x times the probability that a normal number is smaller: what transformers use.",
      .help = "y = x · Φ(x) = x / 2 · (1 + erf(x / √2)). Approximate computes x / 2 · (1 + tanh(√(2/π) · (x + 0.044715 "
              "x³))) instead, as GPT-2 was trained; the two differ by less than 0.0005.\n\n"
              "Hendrycks and Gimpel, Gaussian error linear units, arXiv 1606.08415.",
      .fields = {{.key = "approximate",
                  .label = "Approximate",
                  .help = "Uses the tanh form.",
                  .type = FieldType::boolean,
                  .defaultValue = false}},
  });
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return {arguments.builder.add(
      "unary", {arguments.inputs[0]},
      {{"function", std::string("gelu")}, {"approximate", arguments.values.boolean("approximate")}})};
}

}  // namespace gelu_layer

const LayerDefinition& defineGELULayer() {
  using namespace gelu_layer;
  static const LayerDefinition definition{entry(), parts::sameShape, lower};
  return definition;
}

}  // namespace loom
