// SumPooling and GlobalMaxPooling.
#include <fmt/format.h>

#include <numeric>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/window.h"

namespace loom {
namespace sum_pooling_layer {

Entry entry() {
  return parts::completed(
      {.id = "SumPooling",
       .category = "pooling",
       .aliases = {"SumPool"},
       .summary = "The sum of each window.",
       .help = "y[c, p] = Σ over k of x[c, p · stride − before + k]; padding counts as 0. Output extent: "
               "⌊(in + before + after − kernel) / stride⌋ + 1; with Same padding ⌈in / stride⌉.\n\nNo parameters.",
       .inputs = {parts::valuesIn("Channels × height × width (or × length, or × depth × height × width).")},
       .outputs = {parts::valuesOut("The same channels, smaller extents.")},
       .fields = windowFields(Json::array({2, 2}), nullptr, "valid", Dilation::none)});
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  std::vector<std::int64_t> extents = slidOver(slidingWindow(arguments.values, input, Dilation::none), input);
  extents.insert(extents.begin(), input[0]);
  return {Shape(std::move(extents))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Window window = slidingWindow(arguments.values, parts::sampleShape(arguments), Dilation::none);
  const TensorId mean = arguments.builder.add("average_pooling", {arguments.inputs[0]},
                                              {{"kernel", window.kernel},
                                               {"strides", window.stride},
                                               {"padding", window.padding()},
                                               {"include_padding", true}});
  return {parts::scaled(arguments, mean, static_cast<double>(Shape(window.kernel).elements()))};
}

Entry globalMaxEntry() {
  return parts::completed(
      {.id = "GlobalMaxPooling",
       .category = "pooling",
       .aliases = {"GlobalMaxPool", "GlobalMaxPooling2D", "AdaptiveMaxPool2d"},
       .summary = "The largest value of each channel over the whole image.",
       .help = "y[c] = max over all places p of x[c, p]: whether something was found anywhere. Places that are equally "
               "large share "
               "the gradient.\n\nNo parameters.",
       .inputs = {parts::valuesIn("Channels × spatial axes.")},
       .outputs = {parts::valuesOut("Channels; with Keep axes channels × 1 × 1.")},
       .fields = {parts::switchField("keep_axes", "Keep axes",
                                     "Leaves the spatial axes with extent 1 instead of removing them.", false)}});
}

std::vector<Shape> globalMaxShapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  if (input.rank() < 2)
    throw LayerError(
        fmt::format("the input is {}, but channels and at least one further axis are wanted, such as 64×8×8",
                    parts::shapeText(input)),
        "");
  std::vector<std::int64_t> extents(arguments.values.boolean("keep_axes") ? input.rank() : 1, 1);
  extents[0] = input[0];
  return {Shape(std::move(extents))};
}

std::vector<TensorId> lowerGlobalMax(const LowerArguments& arguments) {
  std::vector<std::int64_t> axes(parts::sampleShape(arguments).rank() - 1);
  std::iota(axes.begin(), axes.end(), 1);
  return {parts::reduced(arguments, "maximum", arguments.inputs[0], axes, arguments.values.boolean("keep_axes"))};
}

}  // namespace sum_pooling_layer

const LayerDefinition& defineSumPoolingLayer() {
  using namespace sum_pooling_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}
const LayerDefinition& defineGlobalMaxPoolingLayer() {
  using namespace sum_pooling_layer;
  static const LayerDefinition definition{globalMaxEntry(), globalMaxShapes, lowerGlobalMax};
  return definition;
}

}  // namespace loom
