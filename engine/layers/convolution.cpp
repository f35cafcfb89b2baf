#include <fmt/format.h>

#include <algorithm>

#include "engine/layers/binary_weights.h"
#include "engine/layers/entry_parts.h"
#include "engine/layers/initializers.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/window.h"

namespace loom {
namespace convolution_layer {

constexpr const char* kGiven = "given";

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Convolution";
  entry.category = entry.icon = "convolution";
  entry.aliases = {"Conv", "Conv1d", "Conv2d", "Conv3d", "Conv2D"};
  entry.summary = "Slides learned kernels over an image, a sequence or a volume.";
  entry.help =
      "y[o, p] = b[o] + Σ over c, k of w[o, c, k] · x[c, p · stride − before + k · dilation], for each output channel "
      "o and each place p of the output; outside the input stand zeros. (As in all deep learning this is a "
      "cross-correlation: the kernel is not mirrored.)\n\n"
      "The input is channels × height × width; channels × length and channels × depth × height × width work alike. "
      "Output extent on an axis: ⌊(in + before + after − dilation · (kernel − 1) − 1) / stride⌋ + 1; with Same "
      "padding ⌈in / stride⌉.\n\n"
      "Groups split the channels: each group of outputs sees its share of the inputs only. As many groups as input "
      "channels is a depthwise convolution.\n\n"
      "Parameters: weight channels × (inputs / groups) × kernel, bias channels. LeCun et al., Gradient-based learning "
      "applied to document recognition, Proc. IEEE 1998; Dumoulin and Visin, A guide to convolution arithmetic, arXiv "
      "1603.07285.";
  entry.inputs = {parts::valuesIn("Channels × height × width (or × length, or × depth × height × width).")};
  entry.outputs = {parts::valuesOut("Output channels × new extents.")};
  entry.fields = {{.key = "channels",
                   .label = "Channels",
                   .help = "Number of kernels, and so of output channels.",
                   .type = FieldType::integer,
                   .defaultValue = 16,
                   .hard = Range{1, parts::kMostChannels},
                   .comfortable = Range{1, 4096},
                   .important = true}};
  for (Field& field : windowFields(Json::array({3, 3}), Json::array({1, 1}), "same", Dilation::field))
    entry.fields.push_back(std::move(field));
  entry.fields.push_back({.key = "groups",
                          .label = "Groups",
                          .help = "Parts into which input and output channels are split; both must be divisible by it.",
                          .type = FieldType::integer,
                          .defaultValue = 1,
                          .hard = Range{1, parts::kMostChannels}});
  entry.fields.push_back(parts::biasField());
  for (Field& field : initializerFields("he_normal")) entry.fields.push_back(std::move(field));
  const auto initializer = std::find_if(entry.fields.begin(), entry.fields.end(),
                                        [](const Field& field) { return field.key == "initializer"; });
  initializer->choices.push_back({kGiven, "Given", "The numbers in Given weights: a bank of known filters."});
  entry.fields.push_back({.key = "weights",
                          .label = "Given weights",
                          .help =
                              "All numbers of the weight: output channels × (inputs / groups) × kernel, the last axis "
                              "fastest. Where they shall stay as they are, leave the weight out of what the "
                              "training changes.",
                          .type = FieldType::reals,
                          .defaultValue = Json::array(),
                          .hard = Range{-1e30, 1e30},
                          .onlyWhen = std::string("initializer=") + kGiven});
  return entry;
}

std::vector<std::int64_t> weightExtents(const Values& values, const Shape& input, const Window& window) {
  std::vector<std::int64_t> extents{values.integer("channels"), input[0] / values.integer("groups")};
  extents.insert(extents.end(), window.kernel.begin(), window.kernel.end());
  return extents;
}

void checkGroups(const Values& values, std::int64_t inputs) {
  const std::int64_t groups = values.integer("groups"), channels = values.integer("channels");
  if (inputs % groups != 0)
    throw LayerError(fmt::format("{} input channels cannot be split into {} groups of equal size", inputs, groups),
                     "groups", 1);
  if (channels % groups != 0)
    throw LayerError(fmt::format("{} output channels cannot be split into {} groups of equal size", channels, groups),
                     "channels", (channels / groups + 1) * groups);
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  const Window window = slidingWindow(arguments.values, input, Dilation::field);
  std::vector<std::int64_t> extents = slidOver(window, input);
  checkGroups(arguments.values, input[0]);
  if (arguments.values.text("initializer") == kGiven) {
    const Shape weight(weightExtents(arguments.values, input, window));
    const std::size_t given = arguments.values.reals("weights").size();
    if (given != static_cast<std::size_t>(weight.elements()))
      throw LayerError(fmt::format("{} weights are given, but the weight {} has {}", given, parts::shapeText(weight),
                                   weight.elements()),
                       "weights");
  }
  extents.insert(extents.begin(), arguments.values.integer("channels"));
  return {Shape(std::move(extents))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Values& values = arguments.values;
  const Shape input = parts::sampleShape(arguments);
  const Window window = slidingWindow(values, input, Dilation::field);
  const std::int64_t channels = values.integer("channels"), groups = values.integer("groups");
  const Shape shape(weightExtents(values, input, window));
  const double taps = static_cast<double>(shape.withoutFirst().elements()) / static_cast<double>(shape[1]);
  const Fan fan{static_cast<double>(shape[1]) * taps,
                static_cast<double>(channels) / static_cast<double>(groups) * taps};
  const bool given = values.text("initializer") == kGiven;
  const Initializer initializer =
      given ? Initializer{.kind = InitializerKind::given,
                          .values = std::make_shared<const std::vector<double>>(values.reals("weights"))}
            : weightInitializer(values, fan);
  const TensorId weight =
      parts::weightInUse(arguments, parts::parameter(arguments, "weight", shape, ParameterKind::weight, initializer));
  TensorId bias = kNoTensor;
  if (values.boolean("bias"))
    bias = parts::parameter(arguments, "bias", {channels}, ParameterKind::bias, biasInitializer(values, fan));
  return {arguments.builder.add(
      "convolution", {arguments.inputs[0], weight, bias},
      {{"strides", window.stride}, {"padding", window.padding()}, {"dilation", window.dilation}, {"groups", groups}})};
}

}  // namespace convolution_layer

const LayerDefinition& defineConvolutionLayer() {
  using namespace convolution_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
