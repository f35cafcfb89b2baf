#include "engine/layers/entry_parts.h"
#include "engine/layers/window.h"

namespace loom {
namespace max_pooling_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "MaxPooling";
  entry.category = entry.icon = "pooling";
  entry.aliases = {"MaxPool", "MaxPool2d", "MaxPooling2D", "MaxPool1d"};
  entry.summary = "Keeps the largest value of each window: a smaller image that says what was found, less where.";
  entry.help =
      "y[c, p] = max over k of x[c, p · stride − before + k]. Padding never wins: only pixels of the input are "
      "compared. The gradient goes to the first maximum of each window.\n\n"
      "Output extent: ⌊(in + before + after − kernel) / stride⌋ + 1; with Same padding ⌈in / stride⌉. No parameters.";
  entry.inputs = {parts::valuesIn("Channels × height × width (or × length, or × depth × height × width).")};
  entry.outputs = {parts::valuesOut("The same channels, smaller extents.")};
  entry.fields = windowFields(Json::array({2, 2}), nullptr, "valid", Dilation::none);
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
  return {
      arguments.builder.add("max_pooling", {arguments.inputs[0]},
                            {{"kernel", window.kernel}, {"strides", window.stride}, {"padding", window.padding()}})};
}

}  // namespace max_pooling_layer

const LayerDefinition& defineMaxPoolingLayer() {
  using namespace max_pooling_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
