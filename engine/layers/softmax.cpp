#include "engine/layers/entry_parts.h"

namespace loom {
namespace softmax_layer {

Entry entry() {
  Entry entry = parts::activationEntry({
      .id = "Softmax",
      .aliases = {"NormalizedExponential"},
      .summary = "Turns numbers into probabilities that sum to 1.",
      .help =
          "y[k] = e^(x[k] − m) / Σ over j of e^(x[j] − m) along one axis, with m the largest x: nothing overflows.\n\n"
          "Do not put it before SoftmaxCrossEntropy, which contains it: training would still run, but slowly and "
          "badly.",
      .fields = {parts::axisField("Axis whose numbers sum to 1: −1, the last; 0 for the channels of an image.", -1)},
  });
  entry.inputs[0].help = "Any shape.";
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  parts::axisOf("axis", arguments.values.integer("axis"), arguments.inputs[0]);
  return {arguments.inputs[0]};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const std::int64_t axis = parts::axisOf("axis", arguments.values.integer("axis"), parts::sampleShape(arguments));
  return {arguments.builder.add("softmax", {arguments.inputs[0]}, {{"axis", axis + 1}})};
}

}  // namespace softmax_layer

const LayerDefinition& defineSoftmaxLayer() {
  using namespace softmax_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
