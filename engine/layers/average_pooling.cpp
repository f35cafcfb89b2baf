#include "engine/layers/entry_parts.h"
#include "engine/layers/window.h"

namespace loom {
namespace average_pooling_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "AveragePooling";
  entry.category = entry.icon = "pooling";
  entry.aliases = {"AvgPool", "AvgPool2d", "AveragePooling2D", "MeanPooling"};
  entry.summary = "The mean of each window: a smaller, smoother image.";
  entry.help =
      "y[c, p] = mean over k of x[c, p · stride − before + k]. With Count padding the sum is always divided by the "
      "whole kernel, as if zeros stood around the input (Sony NNC and PyTorch do so unless told otherwise); without, "
      "by the pixels that lie inside.\n\n"
      "Output extent: ⌊(in + before + after − kernel) / stride⌋ + 1; with Same padding ⌈in / stride⌉. No parameters.";
  entry.inputs = {parts::valuesIn("Channels × height × width (or × length, or × depth × height × width).")};
  entry.outputs = {parts::valuesOut("The same channels, smaller extents.")};
  entry.fields = windowFields(Json::array({2, 2}), nullptr, "valid", Dilation::none);
  entry.fields.push_back({.key = "include_padding",
                          .label = "Count padding",
                          .help = "Whether padded zeros count in the mean.",
                          .type = FieldType::boolean,
                          .defaultValue = true});
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  std::vector<std::int64_t> extents = slidOver(slidingWindow(arguments.values, input, Dilation::none), input);
  extents.insert(extents.begin(), input[0]);
  return {Shape(std::move(extents))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Window window = slidingWindow(arguments.values, parts::sampleShape(arguments), Dilation::none);
  return {arguments.builder.add("average_pooling", {arguments.inputs[0]},
                                {{"kernel", window.kernel},
                                 {"strides", window.stride},
                                 {"padding", window.padding()},
                                 {"include_padding", arguments.values.boolean("include_padding")}})};
}

}  // namespace average_pooling_layer

const LayerDefinition& defineAveragePoolingLayer() {
  using namespace average_pooling_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
