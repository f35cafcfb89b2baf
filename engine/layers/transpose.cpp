#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/base/words.h"
#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace transpose_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Transpose";
  entry.category = entry.icon = "shape";
  entry.aliases = {"Permute", "SwapAxes"};
  entry.summary = "Puts the axes of a sample into another order.";
  entry.help =
      "Axis i of the output is axis axes[i] of the input: with [1, 2, 0], C×H×W becomes H×W×C. Absent, the order is "
      "reversed; a sequence C×T becomes T×C.\n\n"
      "No parameters.";
  entry.inputs = {parts::valuesIn("Any shape.")};
  entry.outputs = {parts::valuesOut("The same extents in another order.")};
  entry.fields = {{.key = "axes",
                   .label = "Axes",
                   .help = "The input's axes in their new order, counted from 0; absent: reversed.",
                   .type = FieldType::integers,
                   .defaultValue = nullptr,
                   .hard = Range{0, 7},
                   .optional = true,
                   .important = true}};
  return entry;
}

std::vector<std::int64_t> order(const Values& values, const Shape& input) {
  std::vector<std::int64_t> axes(input.rank());
  std::iota(axes.rbegin(), axes.rend(), 0);
  if (!values.has("axes")) return axes;
  const std::vector<std::int64_t> given = values.integers("axes");
  if (!std::is_permutation(axes.begin(), axes.end(), given.begin(), given.end()))
    throw LayerError(fmt::format("'axes' is [{}], but the input {} has {}, each of which must stand there once",
                                 fmt::join(given, ", "), parts::shapeText(input),
                                 counted(static_cast<std::int64_t>(input.rank()), "axes")),
                     "axes", Json(axes));
  return given;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  std::vector<std::int64_t> extents;
  for (std::int64_t axis : order(arguments.values, arguments.inputs[0])) extents.push_back(arguments.inputs[0][axis]);
  return {Shape(std::move(extents))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  std::vector<std::int64_t> axes{0};
  for (std::int64_t axis : order(arguments.values, parts::sampleShape(arguments))) axes.push_back(axis + 1);
  return {arguments.builder.add("transpose", {arguments.inputs[0]}, {{"axes", axes}})};
}

}  // namespace transpose_layer

const LayerDefinition& defineTransposeLayer() {
  using namespace transpose_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
