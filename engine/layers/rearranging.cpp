// Pad, Tile, Flip, Roll, Gather: values along axes at other places.
#include <fmt/format.h>

#include <algorithm>

#include "engine/base/words.h"
#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/resampling.h"
#include "engine/layers/rows.h"

namespace loom {
namespace rearranging_layers {

struct Row {
  AxisMap (*mapOf)(const Values& values, const Shape& input, std::int64_t axis);
  Entry entry;
};

AxisMap picking(std::int64_t count, const std::function<std::int64_t(std::int64_t)>& place) {
  AxisMap map;
  for (std::int64_t i = 0; i < count; ++i) map.addRow({place(i)});
  return map;
}

// Where a place outside is found inside: mirrored at the first and last value, which are not repeated.
std::int64_t reflected(std::int64_t place, std::int64_t extent) {
  if (extent == 1) return 0;
  const std::int64_t period = 2 * (extent - 1), within = ((place % period) + period) % period;
  return within < extent ? within : period - within;
}

AxisMap pad(const Values& values, const Shape& input, std::int64_t axis) {
  const std::vector<std::int64_t> pads = values.integers("pads");
  const auto rank = static_cast<std::int64_t>(input.rank()), axes = static_cast<std::int64_t>(pads.size()) / 2;
  if (pads.size() % 2 != 0 || axes > rank)
    throw LayerError(
        fmt::format("'pads' has {}, but the input {} has {}: two numbers are wanted for each of the last axes, "
                    "all befores and then all afters",
                    counted(static_cast<std::int64_t>(pads.size()), "numbers"), parts::shapeText(input),
                    counted(rank, "axes")),
        "pads");
  if (axis < rank - axes) return unchanged();
  const auto at = static_cast<std::size_t>(axis - (rank - axes));
  const std::int64_t before = pads[at], after = pads[at + static_cast<std::size_t>(axes)], extent = input[axis];
  if (before == 0 && after == 0) return unchanged();
  const std::string mode = values.text("mode");
  if (extent + before + after < 1)
    throw LayerError(fmt::format("'pads' takes {} and {} from axis {} of {}, which has {}: nothing is left", -before,
                                 -after, axis, parts::shapeText(input), extent),
                     "pads");
  if (mode == "reflect" && std::max(before, after) >= extent)
    throw LayerError(fmt::format("'pads' is {} on axis {} of {}, but a reflection reaches {} at most",
                                 std::max(before, after), axis, parts::shapeText(input), extent - 1),
                     "pads");
  AxisMap map;
  for (std::int64_t i = -before; i < extent + after; ++i) {
    if (mode == "constant" && (i < 0 || i >= extent))
      map.addRow({});
    else
      map.addRow({mode == "reflect" ? reflected(i, extent)
                  : mode == "wrap"  ? ((i % extent) + extent) % extent
                                    : std::clamp<std::int64_t>(i, 0, extent - 1)});
  }
  if (mode == "constant") map.fill = values.real("value");
  return map;
}

AxisMap tile(const Values& values, const Shape& input, std::int64_t axis) {
  const std::vector<std::int64_t> repeats = values.integers("repeats");
  if (repeats.size() > input.rank())
    throw LayerError(fmt::format("'repeats' has {}, but the input {} has only {}",
                                 counted(static_cast<std::int64_t>(repeats.size()), "numbers"), parts::shapeText(input),
                                 counted(static_cast<std::int64_t>(input.rank()), "axes")),
                     "repeats");
  const auto skipped = static_cast<std::int64_t>(input.rank() - repeats.size());
  if (axis < skipped || repeats[static_cast<std::size_t>(axis - skipped)] == 1) return unchanged();
  const std::int64_t extent = input[axis];
  return picking(extent * repeats[static_cast<std::size_t>(axis - skipped)],
                 [&](std::int64_t i) { return i % extent; });
}

AxisMap flip(const Values& values, const Shape& input, std::int64_t axis) {
  bool flips = false;
  for (std::int64_t one : values.integers("axes")) flips |= parts::axisOf("axes", one, input) == axis;
  if (!flips) return unchanged();
  return picking(input[axis], [&](std::int64_t i) { return input[axis] - 1 - i; });
}

AxisMap roll(const Values& values, const Shape& input, std::int64_t axis) {
  if (parts::axisOf("axis", values.integer("axis"), input) != axis) return unchanged();
  const std::int64_t extent = input[axis], by = values.integer("by");
  return picking(extent, [&](std::int64_t i) { return (((i - by) % extent) + extent) % extent; });
}

AxisMap gather(const Values& values, const Shape& input, std::int64_t axis) {
  if (parts::axisOf("axis", values.integer("axis"), input) != axis) return unchanged();
  const std::vector<std::int64_t> indices = values.integers("indices");
  if (indices.empty()) throw LayerError("'indices' is empty, but at least one is wanted", "indices", Json::array({0}));
  const std::int64_t extent = input[axis];
  for (std::int64_t index : indices)
    if (index < -extent || index >= extent)
      throw LayerError(fmt::format("'indices' has {}, but axis {} of {} has {} values ({} to {})", index, axis,
                                   parts::shapeText(input), extent, -extent, extent - 1),
                       "indices");
  return picking(static_cast<std::int64_t>(indices.size()), [&](std::int64_t i) {
    const std::int64_t index = indices[static_cast<std::size_t>(i)];
    return index < 0 ? index + extent : index;
  });
}

Field integersField(std::string key, std::string label, std::string help, Json defaultValue, Range hard) {
  return {.key = std::move(key),
          .label = std::move(label),
          .help = std::move(help),
          .type = FieldType::integers,
          .defaultValue = std::move(defaultValue),
          .hard = hard,
          .important = true};
}

Row row(AxisMap (*mapOf)(const Values&, const Shape&, std::int64_t), Entry entry) {
  entry.category = "shape";
  entry.help += "\n\nNo parameters.";
  return {mapOf, parts::completed(std::move(entry))};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    Field value = parts::numberField("value", "Value", "What stands in the border.", 0.0, Range{-1e30, 1e30});
    value.onlyWhen = "mode=constant";
    const Range extents{-parts::kMostExtent, parts::kMostExtent};
    return std::vector<Row>{
        row(pad,
            {.id = "Pad",
             .aliases = {"ZeroPadding2D", "ZeroPad2d", "Padding"},
             .relatives = {{"ReflectionPad2d", "is Pad with \"mode\": \"reflect\""},
                           {"ReplicationPad2d", "is Pad with \"mode\": \"replicate\""}},
             .summary = "Puts a border around its input, or cuts one off.",
             .help =
                 "Pads has two numbers for each of the last axes: what is added before on each of them, then what is "
                 "added after. For an image that is top, left, bottom, right (ONNX's order without batch and "
                 "channels). Negative numbers cut.",
             .outputs = {parts::valuesOut("Larger (or smaller) by the pads.")},
             .fields = {integersField("pads", "Pads",
                                      "Befores of the last axes, then their afters: top, left, bottom, "
                                      "right of an image.",
                                      Json::array({1, 1, 1, 1}), extents),
                        parts::choiceField(
                            "mode", "Mode", "What stands in the border.",
                            {{"constant", "Constant", "One number."},
                             {"reflect", "Reflect", "The input mirrored at its edge, which is not repeated."},
                             {"replicate", "Replicate", "The value at the edge (ONNX: edge)."},
                             {"wrap", "Wrap", "The other end of the input (PyTorch: circular)."}}),
                        value}}),
        row(tile,
            {.id = "Tile",
             .aliases = {"Repeat"},
             .summary = "Repeats its input along axes, copy beside copy.",
             .help =
                 "[1, 2] repeated twice along its axis is [1, 2, 1, 2]. Repeats has one number for each of the last "
                 "axes. (Unpooling repeats each value instead.)",
             .outputs = {parts::valuesOut("Extents times the repeats.")},
             .fields = {integersField("repeats", "Repeats", "How often along each of the last axes.", Json::array({2}),
                                      Range{1, parts::kMostExtent})}}),
        row(flip,
            {.id = "Flip",
             .aliases = {"Reverse", "Mirror"},
             .summary = "Reverses the order along axes.",
             .help =
                 "The last value comes first. Of an image C×H×W, axis −1 mirrors left and right, −2 top and bottom.",
             .fields = {integersField("axes", "Axes", "Axes that are reversed: 0 = channels, −1 = the last.",
                                      Json::array({-1}), Range{-8, 7})}}),
        row(roll,
            {.id = "Roll",
             .aliases = {"CircularShift"},
             .relatives =
                 {{"Shift",
                   "fills what becomes free from the edge: write Pad with a negative number and \"replicate\", or "
                   "Roll, where what leaves comes in again"}},
             .summary = "Moves values along an axis; what leaves at one end comes in at the other.",
             .help = "y[i] = x[i − by], around the end. Positive numbers move to higher indices.",
             .fields = {parts::axisField("Axis along which values move.", -1),
                        parts::numberField("by", "By", "How many places; negative ones go back.", 1, extents)}}),
        row(gather,
            {.id = "Gather",
             .aliases = {"IndexSelect", "Take"},
             .summary = "Picks values along an axis by fixed indices, in their order.",
             .help = "y has, along the axis, x at each of the indices; an index may come several times, a negative one "
                     "counts from the end. For rows of a learned table that data choose, see Embedding.",
             .outputs = {parts::valuesOut("As many along the axis as there are indices.")},
             .fields = {parts::axisField("Axis along which values are picked.", 0),
                        integersField("indices", "Indices", "Which ones, from 0; negative from the end.",
                                      Json::array({0}), Range{-2147483647, 2147483647})}}),
    };
  }();
  return all;
}

MapOfAxis mapOf(const Values& values, const Shape& input) {
  const Row& row = parts::rowOf(rows(), values);
  return [&row, &values, input](std::int64_t axis, std::int64_t) { return row.mapOf(values, input, axis); };
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  if (arguments.values.entry().field("axes") != nullptr)
    for (std::int64_t axis : arguments.values.integers("axes")) parts::axisOf("axes", axis, input);
  if (arguments.values.entry().field("axis") != nullptr) parts::axisOf("axis", arguments.values.integer("axis"), input);
  return {resampledShape(input, mapOf(arguments.values, input))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return {resampled(arguments, mapOf(arguments.values, parts::sampleShape(arguments)))};
}

}  // namespace rearranging_layers

#define LOOM_REARRANGING_LAYER(ID) \
  LOOM_ROW_LAYER(ID, rearranging_layers::rows, rearranging_layers::shapes, rearranging_layers::lower)
LOOM_REARRANGING_LAYER(Pad)
LOOM_REARRANGING_LAYER(Tile)
LOOM_REARRANGING_LAYER(Flip)
LOOM_REARRANGING_LAYER(Roll)
LOOM_REARRANGING_LAYER(Gather)

}  // namespace loom
