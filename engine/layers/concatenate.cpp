#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace concatenate_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Concatenate";
  entry.category = "shape";
  entry.icon = "concatenate";
  entry.aliases = {"Concat", "Cat", "Join", "Merge"};
  entry.summary = "Puts its inputs one after the other along an axis.";
  entry.help =
      "Along the axis the extents add up; all other axes must agree. Along axis 0, the channels, it is how Inception "
      "and DenseNet collect features and how U-Net brings back detail. The order is that of the wires.\n\n"
      "No parameters.";
  entry.inputs = {
      {.key = "input", .label = "Inputs", .help = "Two and more that agree in all other axes.", .several = true}};
  entry.outputs = {parts::valuesOut("The sum of the extents along the axis.")};
  entry.fields = {parts::axisField("Axis along which the inputs are put together: 0 = channels, −1 = the last.", 0)};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  Shape shape = arguments.inputs[0];
  const std::int64_t axis = parts::axisOf("axis", arguments.values.integer("axis"), shape);
  for (std::size_t i = 1; i < arguments.inputs.size(); ++i) {
    const Shape& input = arguments.inputs[i];
    bool agrees = input.rank() == shape.rank();
    for (std::size_t k = 0; agrees && k < shape.rank(); ++k)
      agrees = static_cast<std::int64_t>(k) == axis || shape.extents()[k] == input.extents()[k];
    if (!agrees)
      throw LayerError(fmt::format("input {} is {}, but input 1 is {}: they may differ in axis {} only", i + 1,
                                   parts::shapeText(input), parts::shapeText(arguments.inputs[0]), axis),
                       "");
    shape[axis] += input[axis];
  }
  return {shape};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const std::int64_t axis = parts::axisOf("axis", arguments.values.integer("axis"), parts::sampleShape(arguments));
  return {
      arguments.builder.add("concatenate", {arguments.inputs.begin(), arguments.inputs.end()}, {{"axis", axis + 1}})};
}

}  // namespace concatenate_layer

const LayerDefinition& defineConcatenateLayer() {
  using namespace concatenate_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
