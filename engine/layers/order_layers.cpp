// TopK, ArgMax, ArgMin, OneHot: which values are the largest, and class numbers as vectors.
#include <fmt/format.h>

#include <numeric>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace order_layers {

std::int64_t axisOf(const Values& values, const Shape& input) {
  return parts::axisOf("axis", values.integer("axis"), input);
}

// The axis of a sample exchanged with the last: its own inverse.
TensorId exchanged(const LowerArguments& arguments, TensorId x, std::int64_t axis) {
  std::vector<std::int64_t> axes(arguments.builder.shape(x).rank());
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[static_cast<std::size_t>(axis) + 1], axes.back());
  return arguments.builder.add("transpose", {x}, {{"axes", axes}});
}

std::vector<TensorId> ordered(const LowerArguments& arguments, std::int64_t axis, std::int64_t k, bool largest) {
  const TensorId x = exchanged(arguments, arguments.inputs[0], axis);
  std::vector<TensorId> outputs;
  for (TensorId y : arguments.builder.emit("top_k", {x}, {{"k", k}, {"largest", largest}}))
    outputs.push_back(exchanged(arguments, y, axis));
  return outputs;
}

Entry topKEntry() {
  return parts::completed(
      {.id = "TopK",
       .category = "shape",
       .icon = "sort-down",
       .relatives = {{"Sort", "is TopK with \"k\" as large as the axis"},
                     {"TopKData", "leaves values where they stand; TopK puts the largest in order"}},
       .summary = "The k largest values along an axis, in order, and where they stood.",
       .help = "The first output has the values, the largest first (or the smallest, without Largest), the second "
               "their places, "
               "counted from 0. Of equal values the first comes first. With k as large as the axis it sorts. The "
               "gradient goes "
               "back to where the values stood; none to the places.\n\nNo parameters.",
       .outputs = {{.key = "output", .label = "Values", .help = "The k values, in order."},
                   {.key = "indices", .label = "Indices", .help = "Their places along the axis, as numbers."}},
       .fields = {parts::numberField("k", "K", "How many values.", 1, Range{1, 16777216}),
                  parts::axisField("Axis along which they are put in order: 0 = channels, −1 = the last.", -1),
                  parts::switchField("largest", "Largest", "The largest first; else the smallest.", true)}});
}

std::vector<Shape> topKShapes(const ShapeArguments& arguments) {
  Shape shape = arguments.inputs[0];
  std::int64_t& extent = shape[axisOf(arguments.values, shape)];
  const std::int64_t k = arguments.values.integer("k");
  if (k > extent)
    throw LayerError(
        fmt::format("'k' is {}, but the axis of {} has only {}", k, parts::shapeText(arguments.inputs[0]), extent), "k",
        extent);
  extent = k;
  return {shape, shape};
}

std::vector<TensorId> lowerTopK(const LowerArguments& arguments) {
  return ordered(arguments, axisOf(arguments.values, parts::sampleShape(arguments)), arguments.values.integer("k"),
                 arguments.values.boolean("largest"));
}

Entry argEntry(std::string id, const std::string& which) {
  return parts::completed(
      {.id = std::move(id),
       .category = "shape",
       .icon = "sort-down",
       .summary = "The place of the " + which + " value along an axis.",
       .help = "The place is counted from 0 and given as a number; of equal values the first counts. Nothing flows "
               "back through "
               "it. For how often the right class wins, see Accuracy.\n\nNo parameters.",
       .outputs = {parts::valuesOut("The other axes (with Keep axes, 1 instead of the axis).")},
       .fields = {parts::axisField("Axis along which is searched: 0 = channels, −1 = the last.", -1),
                  parts::switchField("keep_axes", "Keep axes", "Leaves the axis with extent 1 instead of removing it.",
                                     false)}});
}

std::vector<Shape> argShapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  const std::int64_t axis = axisOf(arguments.values, input);
  std::vector<std::int64_t> extents = input.extents();
  extents[static_cast<std::size_t>(axis)] = 1;
  if (!arguments.values.boolean("keep_axes") && extents.size() > 1) extents.erase(extents.begin() + axis);
  return {Shape(std::move(extents))};
}

std::vector<TensorId> lowerArg(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  const TensorId places =
      ordered(arguments, axisOf(arguments.values, input), 1, arguments.values.entry().id == "ArgMax")[1];
  return {parts::reshaped(arguments, places, argShapes({arguments.id, arguments.values, {&input, 1}})[0])};
}

Entry oneHotEntry() {
  return parts::completed(
      {.id = "OneHot",
       .category = "shape",
       .aliases = {"OneHotEncoding"},
       .summary = "A class number as a vector: 1 at its place, 0 elsewhere.",
       .help =
           "A label (one number) becomes as many numbers as there are classes, T indices become T×classes. A number "
           "that is "
           "no class ends the step and names the row. For a learned vector instead, see Embedding.\n\nNo parameters.",
       .inputs = {{.key = "input",
                   .label = "Indices",
                   .help = "Class numbers from 0: an Input of type index or label.",
                   .type = PortType::indices}},
       .outputs = {parts::valuesOut("Classes, or indices × classes.")},
       .fields = {parts::numberField("classes", "Classes", "How many classes there are.", 10, Range{1, 16777216})}});
}

std::vector<Shape> oneHotShapes(const ShapeArguments& arguments) {
  std::vector<std::int64_t> extents = arguments.inputs[0].extents();
  if (!extents.empty() && extents.back() == 1) extents.pop_back();
  extents.push_back(arguments.values.integer("classes"));
  return {Shape(std::move(extents))};
}

std::vector<TensorId> lowerOneHot(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  const TensorId y =
      arguments.builder.add("one_hot", {arguments.inputs[0]}, {{"classes", arguments.values.integer("classes")}});
  return {parts::reshaped(arguments, y, oneHotShapes({arguments.id, arguments.values, {&input, 1}})[0])};
}

}  // namespace order_layers

const LayerDefinition& defineTopKLayer() {
  using namespace order_layers;
  static const LayerDefinition definition{topKEntry(), topKShapes, lowerTopK};
  return definition;
}
const LayerDefinition& defineArgMaxLayer() {
  using namespace order_layers;
  static const LayerDefinition definition{argEntry("ArgMax", "largest"), argShapes, lowerArg};
  return definition;
}
const LayerDefinition& defineArgMinLayer() {
  using namespace order_layers;
  static const LayerDefinition definition{argEntry("ArgMin", "smallest"), argShapes, lowerArg};
  return definition;
}
const LayerDefinition& defineOneHotLayer() {
  using namespace order_layers;
  static const LayerDefinition definition{oneHotEntry(), oneHotShapes, lowerOneHot};
  return definition;
}

}  // namespace loom
