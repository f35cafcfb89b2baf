#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace slice_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Slice";
  entry.category = entry.icon = "shape";
  entry.aliases = {"Crop", "Narrow", "Select", "Split"};
  entry.summary = "Takes a part of its input along one axis.";
  entry.help =
      "Along the axis it takes the values at start, start + step, …, length of them; all other axes stay. Start "
      "counts from 0, negative from the end: start −1 with length 1 is the last.\n\n"
      "No parameters.";
  entry.inputs = {parts::valuesIn("Any shape.")};
  entry.outputs = {parts::valuesOut("The same but for one extent.")};
  entry.fields = {parts::axisField("Axis that is cut: 0 = channels, −1 = the last.", 0),
                  {.key = "start",
                   .label = "Start",
                   .help = "First index; negative counts from the end.",
                   .type = FieldType::integer,
                   .defaultValue = 0,
                   .hard = Range{-2147483647, 2147483647},
                   .important = true},
                  {.key = "length",
                   .label = "Length",
                   .help = "How many are taken; absent: all that follow.",
                   .type = FieldType::integer,
                   .defaultValue = nullptr,
                   .hard = Range{1, 2147483647},
                   .optional = true,
                   .important = true},
                  {.key = "step",
                   .label = "Step",
                   .help = "Distance between those that are taken.",
                   .type = FieldType::integer,
                   .defaultValue = 1,
                   .hard = Range{1, 2147483647}}};
  return entry;
}

struct Cut {
  std::int64_t axis, start, length, step;
};

Cut cut(const Values& values, const Shape& input) {
  Cut cut{parts::axisOf("axis", values.integer("axis"), input), values.integer("start"), 0, values.integer("step")};
  const std::int64_t extent = input[cut.axis], asked = cut.start;
  if (cut.start < 0) cut.start += extent;
  if (cut.start < 0 || cut.start >= extent)
    throw LayerError(fmt::format("'start' is {}, but axis {} of {} has {} values ({} to {})", asked, cut.axis,
                                 parts::shapeText(input), extent, -extent, extent - 1),
                     "start", asked < 0 ? -extent : extent - 1);
  const std::int64_t most = (extent - cut.start - 1) / cut.step + 1;
  cut.length = values.has("length") ? values.integer("length") : most;
  if (cut.length > most)
    throw LayerError(fmt::format("'length' is {}, but from {} on axis {} of {} has only {}", cut.length, cut.start,
                                 cut.axis, parts::shapeText(input), most),
                     "length", most);
  return cut;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  Shape shape = arguments.inputs[0];
  const Cut part = cut(arguments.values, shape);
  shape[part.axis] = part.length;
  return {shape};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Cut part = cut(arguments.values, parts::sampleShape(arguments));
  return {arguments.builder.add(
      "slice", {arguments.inputs[0]},
      {{"axis", part.axis + 1}, {"start", part.start}, {"length", part.length}, {"step", part.step}})};
}

}  // namespace slice_layer

const LayerDefinition& defineSliceLayer() {
  using namespace slice_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
