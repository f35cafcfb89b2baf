#include "engine/layers/entry_parts.h"

namespace loom {
namespace elu_layer {

Entry entry() {
  return parts::activationEntry({
      .id = "ELU",
      .aliases = {"ExponentialLinearUnit"},
      .summary = "Bends smoothly to −α for negative values: outputs have a mean near 0.",
      .help = "y = x for x > 0, α · (eˣ − 1) otherwise.\n\nClevert et al., Fast and accurate deep network learning by "
              "exponential linear units, arXiv 1511.07289.",
      .fields = {{.key = "alpha",
                  .label = "Alpha",
                  .help = "What it tends to for very negative values, as −α.",
                  .type = FieldType::real,
                  .defaultValue = 1.0,
                  .hard = Range{0, 100},
                  .important = true}},
  });
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return {arguments.builder.add("unary", {arguments.inputs[0]},
                                {{"function", std::string("elu")}, {"alpha", arguments.values.real("alpha")}})};
}

}  // namespace elu_layer

const LayerDefinition& defineELULayer() {
  using namespace elu_layer;
  static const LayerDefinition definition{entry(), parts::sameShape, lower};
  return definition;
}

}  // namespace loom
