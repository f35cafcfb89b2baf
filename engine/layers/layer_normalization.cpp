#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/ops/normalisation.h"

namespace loom {
namespace layer_normalization_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "LayerNormalization";
  entry.category = entry.icon = "normalisation";
  entry.aliases = {"LayerNorm", "LN"};
  entry.summary =
      "Gives every sample (or every place of a sequence) mean 0 and variance 1, then a learned scale and shift.";
  entry.help =
      "y = γ · (x − mean) / √(variance + ε) + β, with mean and variance over the last axes of each sample by itself; "
      "γ and β have the shape of those axes. It is the same in training and prediction and needs no batch, which is "
      "why transformers and recurrent networks use it.\n\n"
      "Axes is how many trailing axes are taken together: 1 normalises each place of a sequence T×C over its C "
      "channels; 3 a whole image.\n\n"
      "Parameters: gamma and beta (not decayed by default). Ba, Kiros and Hinton, arXiv 1607.06450.";
  entry.inputs = {parts::valuesIn("Any shape.")};
  entry.outputs = {parts::valuesOut("The same shape.")};
  entry.fields = {{.key = "axes",
                   .label = "Axes",
                   .help = "Number of trailing axes that are normalised together.",
                   .type = FieldType::integer,
                   .defaultValue = 1,
                   .hard = Range{1, 7}},
                  {.key = "epsilon",
                   .label = "Epsilon",
                   .help = "Added to the variance under the root.",
                   .type = FieldType::real,
                   .defaultValue = ops::kNormalisationEpsilon,
                   .hard = Range{1e-12, 1},
                   .comfortable = Range{1e-8, 1e-2}},
                  {.key = "scale",
                   .label = "Scale",
                   .help = "Learns γ. Without it γ is 1.",
                   .type = FieldType::boolean,
                   .defaultValue = true},
                  {.key = "shift",
                   .label = "Shift",
                   .help = "Learns β. Without it β is 0.",
                   .type = FieldType::boolean,
                   .defaultValue = true}};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  const auto rank = static_cast<std::int64_t>(input.rank());
  if (arguments.values.integer("axes") > rank)
    throw LayerError(fmt::format("'axes' is {}, but the input {} has only {}", arguments.values.integer("axes"),
                                 parts::shapeText(input), rank),
                     "axes", std::max<std::int64_t>(rank, 1));
  return {input};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Values& values = arguments.values;
  const Shape input = parts::sampleShape(arguments);
  const std::int64_t axes = values.integer("axes");
  const Shape normalised(std::vector<std::int64_t>(input.end() - axes, input.end()));
  TensorId gamma = kNoTensor, beta = kNoTensor;
  if (values.boolean("scale"))
    gamma = parts::parameter(arguments, "gamma", normalised, ParameterKind::normalisation, {InitializerKind::ones});
  if (values.boolean("shift"))
    beta = parts::parameter(arguments, "beta", normalised, ParameterKind::normalisation, {InitializerKind::zeros});
  return {arguments.builder.add("layer_normalization", {arguments.inputs[0], gamma, beta},
                                {{"epsilon", values.real("epsilon")}, {"axes", axes}})};
}

}  // namespace layer_normalization_layer

const LayerDefinition& defineLayerNormalizationLayer() {
  using namespace layer_normalization_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
