#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/initializers.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/window.h"

namespace loom {
namespace deconvolution_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Deconvolution";
  entry.category = entry.icon = "convolution";
  entry.aliases = {"ConvTranspose", "ConvTranspose2d", "TransposedConvolution", "Conv2DTranspose", "UpConvolution"};
  entry.summary = "A convolution run backwards: makes images larger, as decoders and generators need it.";
  entry.help =
      "Each input value paints its kernel, times the value, into the output, stride pixels apart; overlaps add up: "
      "y[o, p · stride − before + k · dilation] += w[c, o, k] · x[c, p], then + b[o]. It is the transpose of a "
      "Convolution with the same fields, the operation that carries that layer's gradient to its input.\n\n"
      "Output extent: Same: in · stride; Valid: (in − 1) · stride + dilation · (kernel − 1) + 1; Explicit: that less "
      "the pads, plus Output padding. Kernels that are a multiple of the stride avoid the checkerboard that uneven "
      "overlaps paint (Odena et al., Distill 2016).\n\n"
      "Parameters: weight inputs × (channels / groups) × kernel, bias channels. Zeiler et al., Deconvolutional "
      "networks, CVPR 2010; Dumoulin and Visin, arXiv 1603.07285.";
  entry.inputs = {parts::valuesIn("Channels × height × width (or × length, or × depth × height × width).")};
  entry.outputs = {parts::valuesOut("Output channels × larger extents.")};
  entry.fields = {{.key = "channels",
                   .label = "Channels",
                   .help = "Number of output channels.",
                   .type = FieldType::integer,
                   .defaultValue = 16,
                   .hard = Range{1, parts::kMostChannels},
                   .comfortable = Range{1, 4096},
                   .important = true}};
  for (Field& field : windowFields(Json::array({4, 4}), Json::array({2, 2}), "same", Dilation::field))
    entry.fields.push_back(std::move(field));
  entry.fields.push_back({.key = "output_padding",
                          .label = "Output padding",
                          .help = "Further pixels at the end of each axis: tells apart the sizes that a strided "
                                  "convolution would map to the same input.",
                          .type = FieldType::integers,
                          .defaultValue = Json::array({0, 0}),
                          .hard = Range{0, 4095},
                          .onlyWhen = "padding=explicit"});
  entry.fields.push_back({.key = "groups",
                          .label = "Groups",
                          .help = "Parts into which input and output channels are split; both must be divisible by it.",
                          .type = FieldType::integer,
                          .defaultValue = 1,
                          .hard = Range{1, parts::kMostChannels}});
  entry.fields.push_back(parts::biasField());
  for (Field& field : initializerFields("he_normal")) entry.fields.push_back(std::move(field));
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  const std::int64_t groups = arguments.values.integer("groups"), channels = arguments.values.integer("channels");
  std::vector<std::int64_t> extents = spreadingWindow(arguments.values, input).extents;
  if (input[0] % groups != 0)
    throw LayerError(fmt::format("{} input channels cannot be split into {} groups of equal size", input[0], groups),
                     "groups", 1);
  if (channels % groups != 0)
    throw LayerError(fmt::format("{} output channels cannot be split into {} groups of equal size", channels, groups),
                     "channels", (channels / groups + 1) * groups);
  extents.insert(extents.begin(), channels);
  return {Shape(std::move(extents))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Values& values = arguments.values;
  const Shape input = parts::sampleShape(arguments);
  const SpreadWindow spread = spreadingWindow(values, input);
  const Window& window = spread.window;
  const std::int64_t channels = values.integer("channels"), groups = values.integer("groups");
  std::vector<std::int64_t> extents{input[0], channels / groups};
  extents.insert(extents.end(), window.kernel.begin(), window.kernel.end());
  const Shape shape(std::move(extents));
  const double taps = static_cast<double>(shape.withoutFirst().elements()) / static_cast<double>(shape[1]);
  double overlap = taps;  // kernels that meet in one output pixel
  for (std::int64_t stride : window.stride) overlap /= static_cast<double>(stride);
  const Fan fan{static_cast<double>(input[0]) / static_cast<double>(groups) * std::max(overlap, 1.0),
                static_cast<double>(shape[1]) * taps};
  const TensorId weight =
      parts::parameter(arguments, "weight", shape, ParameterKind::weight, weightInitializer(values, fan));
  TensorId bias = kNoTensor;
  if (values.boolean("bias"))
    bias = parts::parameter(arguments, "bias", {channels}, ParameterKind::bias, biasInitializer(values, fan));
  return {arguments.builder.add("convolution_input_gradient", {arguments.inputs[0], weight, bias},
                                {{"strides", window.stride},
                                 {"padding", window.padding()},
                                 {"dilation", window.dilation},
                                 {"groups", groups},
                                 {"input_shape", spread.extents}})};
}

}  // namespace deconvolution_layer

const LayerDefinition& defineDeconvolutionLayer() {
  using namespace deconvolution_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
