#include <fmt/format.h>

#include "engine/base/words.h"
#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace flatten_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Flatten";
  entry.category = entry.icon = "shape";
  entry.aliases = {"Ravel"};
  entry.summary = "Makes one axis of several: 16×5×5 becomes 400.";
  entry.help =
      "The numbers stay in their order, the last axis runs fastest. Base axis is how many leading axes are kept: with "
      "1, C×H×W becomes C×(H·W).\n\n"
      "A Linear layer flattens by itself and needs no Flatten before it. No parameters.";
  entry.inputs = {parts::valuesIn("Any shape.")};
  entry.outputs = {parts::valuesOut("The kept axes and one more.")};
  entry.fields = {{.key = "base_axis",
                   .label = "Base axis",
                   .help = "How many leading axes of the sample are kept.",
                   .type = FieldType::integer,
                   .defaultValue = 0,
                   .hard = Range{0, 7}}};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  const std::int64_t kept = arguments.values.integer("base_axis");
  if (kept > static_cast<std::int64_t>(input.rank()))
    throw LayerError(fmt::format("'base_axis' keeps {}, but the input {} has only {}", counted(kept, "axes"),
                                 parts::shapeText(input), input.rank()),
                     "base_axis", std::max<std::int64_t>(static_cast<std::int64_t>(input.rank()) - 1, 0));
  std::vector<std::int64_t> extents(input.begin(), input.begin() + kept);
  extents.push_back(Shape(std::vector<std::int64_t>(input.begin() + kept, input.end())).elements());
  return {Shape(std::move(extents))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  return {parts::reshaped(arguments, arguments.inputs[0], shapes({arguments.id, arguments.values, {&input, 1}})[0])};
}

}  // namespace flatten_layer

const LayerDefinition& defineFlattenLayer() {
  using namespace flatten_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
