#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace local_response_normalization_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "LocalResponseNormalization";
  entry.category = entry.icon = "normalisation";
  entry.aliases = {"LRN", "LocalResponseNorm"};
  entry.summary = "Divides each value by the strength of its neighbours in other channels, as AlexNet did.";
  entry.help =
      "y[c] = x[c] / (k + α / size · Σ x[j]²)^β, over the size channels j around c, at the same place of the image. "
      "Channels beyond the first and last count as 0. α is divided by size, as in PyTorch and Caffe; the paper writes "
      "it without.\n\n"
      "No parameters. Krizhevsky et al., ImageNet classification with deep convolutional neural networks, NIPS 2012, "
      "section 3.3. Later networks use BatchNormalization instead.";
  entry.inputs = {parts::valuesIn("Channels × height × width.")};
  entry.outputs = {parts::valuesOut("The same shape.")};
  entry.fields = {{.key = "size",
                   .label = "Size",
                   .help = "Number of neighbouring channels, the channel itself included.",
                   .type = FieldType::integer,
                   .defaultValue = 5,
                   .hard = Range{1, 4095},
                   .comfortable = Range{1, 31},
                   .important = true},
                  {.key = "alpha",
                   .label = "Alpha",
                   .help = "Weight of the sum of squares.",
                   .type = FieldType::real,
                   .defaultValue = 1e-4,
                   .hard = Range{0, 1000}},
                  {.key = "beta",
                   .label = "Beta",
                   .help = "Exponent.",
                   .type = FieldType::real,
                   .defaultValue = 0.75,
                   .hard = Range{0, 100}},
                  {.key = "k",
                   .label = "K",
                   .help = "Added to the sum.",
                   .type = FieldType::real,
                   .defaultValue = 1.0,
                   .hard = Range{1e-6, 1e6}}};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const std::int64_t size = arguments.values.integer("size");
  if (size % 2 == 0)
    throw LayerError(fmt::format("'size' is {}, but must be odd to have a middle", size), "size", size + 1);
  if (arguments.inputs[0].rank() < 2)
    throw LayerError(
        fmt::format("the input is {}, but channels and at least one further axis are wanted, such as 64×8×8",
                    parts::shapeText(arguments.inputs[0])),
        "");
  return {arguments.inputs[0]};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Values& values = arguments.values;
  return {arguments.builder.add("local_response_normalization", {arguments.inputs[0]},
                                {{"size", values.integer("size")},
                                 {"alpha", values.real("alpha")},
                                 {"beta", values.real("beta")},
                                 {"k", values.real("k")}})};
}

}  // namespace local_response_normalization_layer

const LayerDefinition& defineLocalResponseNormalizationLayer() {
  using namespace local_response_normalization_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
