// Squeeze, Unsqueeze, Expand, and pixels between channels and space: the same numbers under other axes.
#include <fmt/format.h>

#include <algorithm>

#include "engine/base/words.h"
#include "engine/layers/elementwise.h"
#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/rows.h"

namespace loom {
namespace axes_layers {

Entry squeezeEntry() {
  return parts::completed(
      {.id = "Squeeze",
       .category = "shape",
       .summary = "Removes axes of extent 1.",
       .help = "The numbers stay as they are; an axis that is named must have the extent 1. Without Axes all "
               "such axes go. A sample of which nothing else is left is one number.\n\nNo parameters.",
       .outputs = {parts::valuesOut("Fewer axes.")},
       .fields = {{.key = "axes",
                   .label = "Axes",
                   .help = "Axes that go, 0 = the first after the batch; absent: all of extent 1.",
                   .type = FieldType::integers,
                   .defaultValue = nullptr,
                   .hard = Range{-8, 7},
                   .optional = true,
                   .important = true,
                   .absent = "all of 1"}}});
}

std::vector<Shape> squeezeShapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  std::vector<std::int64_t> gone, left;
  if (arguments.values.has("axes"))
    for (std::int64_t axis : arguments.values.integers("axes")) gone.push_back(parts::axisOf("axes", axis, input));
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(input.rank()); ++axis) {
    const bool named = std::find(gone.begin(), gone.end(), axis) != gone.end();
    if (named && input[axis] != 1)
      throw LayerError(fmt::format("'axes' removes axis {} of {}, which has the extent {}, not 1", axis,
                                   parts::shapeText(input), input[axis]),
                       "axes");
    if (!named && (arguments.values.has("axes") || input[axis] != 1)) left.push_back(input[axis]);
  }
  if (left.empty()) left.push_back(1);
  return {Shape(std::move(left))};
}

Entry unsqueezeEntry() {
  return parts::completed(
      {.id = "Unsqueeze",
       .category = "shape",
       .aliases = {"ExpandDims"},
       .summary = "Puts in axes of extent 1.",
       .help = "Axes are places in the result: 0 on a sample 10 gives 1×10, −1 gives 10×1. The numbers stay as "
               "they are.\n\nNo parameters.",
       .outputs = {parts::valuesOut("More axes.")},
       .fields = {{.key = "axes",
                   .label = "Axes",
                   .help = "Places of the new axes in the result; negative from the end.",
                   .type = FieldType::integers,
                   .defaultValue = Json::array({0}),
                   .hard = Range{-8, 7},
                   .important = true}}});
}

std::vector<Shape> unsqueezeShapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  std::vector<std::int64_t> axes = arguments.values.integers("axes");
  const auto rank = static_cast<std::int64_t>(input.rank() + axes.size());
  for (std::int64_t& axis : axes) {
    if (rank > 7 || axis < -rank || axis >= rank)
      throw LayerError(fmt::format("'axes' has {}, but the result has {} ({} to {}; at most 7 are possible)", axis,
                                   counted(rank, "axes"), -rank, rank - 1),
                       "axes");
    if (axis < 0) axis += rank;
  }
  std::sort(axes.begin(), axes.end());
  if (const auto twice = std::adjacent_find(axes.begin(), axes.end()); twice != axes.end())
    throw LayerError(fmt::format("'axes' names place {} twice", *twice), "axes");
  std::vector<std::int64_t> extents = input.extents();
  for (std::int64_t axis : axes) extents.insert(extents.begin() + axis, 1);
  return {Shape(std::move(extents))};
}

// The same numbers in the shape that the rule says.
template <std::vector<Shape> (*kShapes)(const ShapeArguments&)>
std::vector<TensorId> lowerReshaped(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  return {parts::reshaped(arguments, arguments.inputs[0], kShapes({arguments.id, arguments.values, {&input, 1}})[0])};
}

Entry expandEntry() {
  return parts::completed(
      {.id = "Expand",
       .category = "shape",
       .aliases = {"Broadcast", "BroadcastTo"},
       .summary = "Stretches extents of 1 to a larger shape.",
       .help = "Counted from the last axis, each extent of the input is 1 and stretches, or equal to that of Shape, "
               "or Shape has 1 there and the input's stays. Most layers of several inputs stretch by "
               "themselves.\n\nNo parameters.",
       .outputs = {parts::valuesOut("The stretched shape.")},
       .fields = {{.key = "shape",
                   .label = "Shape",
                   .help = "Extents of one sample of the result.",
                   .type = FieldType::shape,
                   .defaultValue = Json::array({1}),
                   .hard = Range{1, 2147483647},
                   .important = true}}});
}

std::vector<Shape> expandShapes(const ShapeArguments& arguments) {
  const Shape shapes[] = {arguments.inputs[0], Shape(arguments.values.integers("shape"))};
  return {stretchedShape(shapes)};
}

std::vector<TensorId> lowerExpand(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  const Shape full = expandShapes({arguments.id, arguments.values, {&input, 1}})[0];
  return {parts::stretchedTo(arguments, alignedTo(arguments, arguments.inputs[0], full), full)};
}

// Layers that are a reshape, a transpose of a sample's axes, and a reshape.
struct Moved {
  Shape parted;
  std::vector<std::int64_t> order;
  Shape result;
};

std::vector<TensorId> lowerMoved(const LowerArguments& arguments, const Moved& moved) {
  std::vector<std::int64_t> axes{0};
  for (std::int64_t axis : moved.order) axes.push_back(axis + 1);
  TensorId x = parts::reshaped(arguments, arguments.inputs[0], moved.parted);
  x = arguments.builder.add("transpose", {x}, {{"axes", axes}});
  return {parts::reshaped(arguments, x, moved.result)};
}

struct Row {
  Moved (*move)(const Values& values, const Shape& input);
  Entry entry;
};

void needImage(const Shape& input) {
  if (input.rank() != 3)
    throw LayerError(fmt::format("the input is {}, but channels × height × width is wanted, such as 64×8×8",
                                 parts::shapeText(input)),
                     "");
}

void needDivisible(const char* field, const char* what, std::int64_t extent, std::int64_t by) {
  if (extent % by != 0)
    throw LayerError(fmt::format("{} {} cannot be split into parts of {}", extent, what, by), field);
}

Moved depthToSpace(const Values& values, const Shape& input) {
  needImage(input);
  const std::int64_t block = values.integer("block"), c = input[0] / (block * block);
  needDivisible("block", "channels", input[0], block * block);
  const Shape result{c, input[1] * block, input[2] * block};
  if (values.text("order") == "channels_first")
    return {Shape{c, block, block, input[1], input[2]}, {0, 3, 1, 4, 2}, result};
  return {Shape{block, block, c, input[1], input[2]}, {2, 3, 0, 4, 1}, result};
}

Moved spaceToDepth(const Values& values, const Shape& input) {
  needImage(input);
  const std::int64_t block = values.integer("block");
  needDivisible("block", "rows", input[1], block);
  needDivisible("block", "columns", input[2], block);
  const Shape parted{input[0], input[1] / block, block, input[2] / block, block};
  const Shape result{input[0] * block * block, input[1] / block, input[2] / block};
  if (values.text("order") == "channels_first") return {parted, {0, 2, 4, 1, 3}, result};
  return {parted, {2, 4, 0, 1, 3}, result};
}

Moved channelShuffle(const Values& values, const Shape& input) {
  const std::int64_t groups = values.integer("groups");
  if (input.rank() == 0) throw LayerError("the input is a scalar, but channels are wanted", "");
  needDivisible("groups", "channels", input[0], groups);
  return {Shape{groups, input[0] / groups, input.elements() / input[0]}, {1, 0, 2}, input};
}

const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    const auto block = [] {
      return parts::numberField("block", "Block", "Pixels of a block on each axis.", 2, Range{1, 256});
    };
    const auto order = [](const char* first) {
      std::vector<Choice> choices{{"channels_first", "Channels, then block", "PyTorch's PixelShuffle; ONNX's CRD."},
                                  {"block_first", "Block, then channels", "TensorFlow's and ONNX's default, DCR."}};
      if (choices[1].id == first) std::swap(choices[0], choices[1]);
      return parts::choiceField("order", "Order", "What the channels of the small image count first.", choices);
    };
    return std::vector<Row>{
        {depthToSpace,
         parts::completed(
             {.id = "DepthToSpace",
              .category = "shape",
              .aliases = {"PixelShuffle"},
              .summary = "Makes an image larger by laying channels side by side as pixels.",
              .help =
                  "C·b²×H×W becomes C×H·b×W·b: b² channels are the pixels of a block. A convolution before it is an "
                  "upsampling that learns.\n\nNo parameters. Shi et al., Real-time single image super-resolution, "
                  "arXiv 1609.05158.",
              .inputs = {parts::valuesIn("Channels × height × width.")},
              .outputs = {parts::valuesOut("Fewer channels, larger extents.")},
              .fields = {block(), order("channels_first")}})},
        {spaceToDepth,
         parts::completed(
             {.id = "SpaceToDepth",
              .category = "shape",
              .aliases = {"PixelUnshuffle"},
              .summary = "Makes an image smaller by laying the pixels of blocks behind each other as channels.",
              .help = "C×H×W becomes C·b²×H/b×W/b: nothing is lost. The way back is DepthToSpace with the same "
                      "order.\n\nNo parameters.",
              .inputs = {parts::valuesIn("Channels × height × width.")},
              .outputs = {parts::valuesOut("More channels, smaller extents.")},
              .fields = {block(), order("block_first")}})},
        {channelShuffle,
         parts::completed({.id = "ChannelShuffle",
                           .category = "shape",
                           .aliases = {"Shuffle"},
                           .summary = "Mixes the channels of groups, so that the next grouped convolution sees all.",
                           .help = "Channels are seen as groups × rest and the two are exchanged: of 6 channels in 2 "
                                   "groups, 0 1 2 3 4 5 "
                                   "becomes 0 3 1 4 2 5. Nothing is random.\n\nNo parameters. Zhang et al., "
                                   "ShuffleNet, arXiv 1707.01083.",
                           .inputs = {parts::valuesIn("Channels first.")},
                           .fields = {parts::numberField("groups", "Groups", "Number of groups.", 2,
                                                         Range{1, parts::kMostChannels})}})},
    };
  }();
  return all;
}

std::vector<Shape> movedShapes(const ShapeArguments& arguments) {
  return {parts::rowOf(rows(), arguments.values).move(arguments.values, arguments.inputs[0]).result};
}

std::vector<TensorId> lowerRow(const LowerArguments& arguments) {
  return lowerMoved(arguments,
                    parts::rowOf(rows(), arguments.values).move(arguments.values, parts::sampleShape(arguments)));
}

}  // namespace axes_layers

const LayerDefinition& defineSqueezeLayer() {
  using namespace axes_layers;
  static const LayerDefinition definition{squeezeEntry(), squeezeShapes, lowerReshaped<squeezeShapes>};
  return definition;
}
const LayerDefinition& defineUnsqueezeLayer() {
  using namespace axes_layers;
  static const LayerDefinition definition{unsqueezeEntry(), unsqueezeShapes, lowerReshaped<unsqueezeShapes>};
  return definition;
}
const LayerDefinition& defineExpandLayer() {
  using namespace axes_layers;
  static const LayerDefinition definition{expandEntry(), expandShapes, lowerExpand};
  return definition;
}
#define LOOM_MOVED_LAYER(ID) LOOM_ROW_LAYER(ID, axes_layers::rows, axes_layers::movedShapes, axes_layers::lowerRow)
LOOM_MOVED_LAYER(DepthToSpace)
LOOM_MOVED_LAYER(SpaceToDepth)
LOOM_MOVED_LAYER(ChannelShuffle)

}  // namespace loom
