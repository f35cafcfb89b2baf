#include <fmt/format.h>

#include <algorithm>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace reshape_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Reshape";
  entry.category = entry.icon = "shape";
  entry.aliases = {"View", "Unflatten"};
  entry.summary = "The same numbers in the same order, under another shape.";
  entry.help =
      "The product of the extents must stay; one extent may be −1 and then is what the others leave. The numbers keep "
      "their order, the last axis runs fastest; to change the order use Transpose.\n\n"
      "No parameters.";
  entry.inputs = {parts::valuesIn("Any shape.")};
  entry.outputs = {parts::valuesOut("The new shape.")};
  entry.fields = {{.key = "shape",
                   .label = "Shape",
                   .help = "Extents of one sample; −1 once for what is left.",
                   .type = FieldType::integers,
                   .defaultValue = Json::array({-1}),
                   .hard = Range{-1, 2147483647},
                   .important = true}};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  std::vector<std::int64_t> extents = arguments.values.integers("shape");
  if (extents.size() > 8)
    throw LayerError(fmt::format("'shape' has {} extents, but at most 8 are possible", extents.size()), "shape");
  const auto open = std::count(extents.begin(), extents.end(), -1);
  if (open > 1)
    throw LayerError(fmt::format("'shape' has −1 {} times, but only one extent can be what is left", open), "shape");
  if (std::find(extents.begin(), extents.end(), 0) != extents.end())
    throw LayerError("'shape' has an extent of 0, but each must be at least 1", "shape");
  const std::int64_t wanted = input.elements();
  std::vector<std::int64_t> known = extents;
  std::erase(known, -1);
  const std::int64_t product = Shape(known).elements();
  if (open == 1 && wanted % product == 0) {
    *std::find(extents.begin(), extents.end(), -1) = wanted / product;
  } else if (open == 1 || product != wanted) {
    throw LayerError(fmt::format("the input {} has {} values, but 'shape' {} holds {}{}", parts::shapeText(input),
                                 wanted, Shape(extents).toString(), open ? "a multiple of " : "", product),
                     "shape", Json::array({-1}));
  }
  return {Shape(std::move(extents))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  return {parts::reshaped(arguments, arguments.inputs[0], shapes({arguments.id, arguments.values, {&input, 1}})[0])};
}

}  // namespace reshape_layer

const LayerDefinition& defineReshapeLayer() {
  using namespace reshape_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
