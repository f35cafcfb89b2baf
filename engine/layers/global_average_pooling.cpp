#include <fmt/format.h>

#include <numeric>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace global_average_pooling_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "GlobalAveragePooling";
  entry.category = entry.icon = "pooling";
  entry.aliases = {"GlobalAvgPool", "GlobalAveragePooling2D", "AdaptiveAvgPool2d", "GAP"};
  entry.summary = "The mean of each channel over the whole image.";
  entry.help =
      "y[c] = mean over all places p of x[c, p]: one number a channel, whatever the image's size. It takes the place "
      "of large fully connected layers at the end of a convolutional network. Keep axes leaves extents of 1, so that "
      "the result can be multiplied with the image again (squeeze and excitation).\n\n"
      "No parameters. Lin et al., Network in network, arXiv 1312.4400.";
  entry.inputs = {parts::valuesIn("Channels × spatial axes.")};
  entry.outputs = {parts::valuesOut("Channels; with Keep axes channels × 1 × 1.")};
  entry.fields = {{.key = "keep_axes",
                   .label = "Keep axes",
                   .help = "Leaves the spatial axes with extent 1 instead of removing them.",
                   .type = FieldType::boolean,
                   .defaultValue = false}};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  if (input.rank() < 2)
    throw LayerError(
        fmt::format("the input is {}, but channels and at least one further axis are wanted, such as 64×8×8",
                    parts::shapeText(input)),
        "");
  if (!arguments.values.boolean("keep_axes")) return {Shape{input[0]}};
  std::vector<std::int64_t> extents(input.rank(), 1);
  extents[0] = input[0];
  return {Shape(std::move(extents))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  std::vector<std::int64_t> axes(input.rank() - 1);
  std::iota(axes.begin(), axes.end(), 2);
  return {arguments.builder.add(
      "reduce", {arguments.inputs[0]},
      {{"function", std::string("mean")}, {"axes", axes}, {"keep", arguments.values.boolean("keep_axes")}})};
}

}  // namespace global_average_pooling_layer

const LayerDefinition& defineGlobalAveragePoolingLayer() {
  using namespace global_average_pooling_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
