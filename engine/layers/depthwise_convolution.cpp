#include "engine/layers/entry_parts.h"
#include "engine/layers/initializers.h"
#include "engine/layers/window.h"

namespace loom {
namespace depthwise_convolution_layer {

Entry entry() {
  Entry entry = parts::completed(
      {.id = "DepthwiseConvolution",
       .category = "convolution",
       .aliases = {"DepthwiseConv2D", "DepthwiseConv"},
       .summary = "A convolution of each channel by itself: the cheap half of MobileNet's convolutions.",
       .help = "Each input channel has kernels of its own, as many as Multiplier says, and output channel c · "
               "multiplier + m is "
               "input channel c under its kernel m. A convolution with kernel 1 behind it mixes the channels. It is a "
               "Convolution with as many groups as channels.\n\n"
               "Parameters: weight (channels · multiplier) × 1 × kernel, bias. Howard et al., MobileNets, arXiv "
               "1704.04861.",
       .inputs = {parts::valuesIn("Channels × height × width (or × length, or × depth × height × width).")},
       .outputs = {parts::valuesOut("Channels times the multiplier × new extents.")},
       .fields = {parts::numberField("multiplier", "Multiplier", "Output channels of each input channel.", 1,
                                     Range{1, 4096})}});
  for (Field& field : windowFields(Json::array({3, 3}), Json::array({1, 1}), "same", Dilation::field))
    entry.fields.push_back(std::move(field));
  entry.fields.push_back(parts::biasField());
  for (Field& field : initializerFields("he_normal")) entry.fields.push_back(std::move(field));
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  std::vector<std::int64_t> extents = slidOver(slidingWindow(arguments.values, input, Dilation::field), input);
  extents.insert(extents.begin(), input[0] * arguments.values.integer("multiplier"));
  return {Shape(std::move(extents))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Values& values = arguments.values;
  const Shape input = parts::sampleShape(arguments);
  const Window window = slidingWindow(values, input, Dilation::field);
  const std::int64_t multiplier = values.integer("multiplier"), channels = input[0] * multiplier;
  std::vector<std::int64_t> extents{channels, 1};
  extents.insert(extents.end(), window.kernel.begin(), window.kernel.end());
  const auto taps = static_cast<double>(Shape(window.kernel).elements());
  const Fan fan{taps, taps * static_cast<double>(multiplier)};
  const TensorId weight =
      parts::parameter(arguments, "weight", Shape(extents), ParameterKind::weight, weightInitializer(values, fan));
  TensorId bias = kNoTensor;
  if (values.boolean("bias"))
    bias = parts::parameter(arguments, "bias", {channels}, ParameterKind::bias, biasInitializer(values, fan));
  return {arguments.builder.add("convolution", {arguments.inputs[0], weight, bias},
                                {{"strides", window.stride},
                                 {"padding", window.padding()},
                                 {"dilation", window.dilation},
                                 {"groups", input[0]}})};
}

}  // namespace depthwise_convolution_layer

const LayerDefinition& defineDepthwiseConvolutionLayer() {
  using namespace depthwise_convolution_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
