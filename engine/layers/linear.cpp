#include <fmt/format.h>

#include "engine/base/words.h"
#include "engine/layers/binary_weights.h"
#include "engine/layers/entry_parts.h"
#include "engine/layers/initializers.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace linear_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Linear";
  entry.category = entry.icon = "linear";
  entry.aliases = {"Dense", "Affine", "FullyConnected", "InnerProduct", "Projection"};
  entry.summary = "Every output is a learned weighted sum of every input.";
  entry.help =
      "y = W x + b, with W outputs × inputs. The sample is flattened first, so that an image may come in directly: "
      "16×5×5 becomes 400 inputs.\n\n"
      "Base axis is the number of leading axes that are kept instead of flattened, as in Sony NNC: with 1 a sequence "
      "T×C becomes T×outputs, the same weights at each of the T places (this is how transformers use it).\n\n"
      "Parameters: weight outputs × inputs, bias outputs.";
  entry.inputs = {parts::valuesIn("Any shape.")};
  entry.outputs = {parts::valuesOut("The kept axes × outputs.")};
  entry.fields = {{.key = "outputs",
                   .label = "Outputs",
                   .help = "Number of outputs; for a classifier's last layer the number of classes.",
                   .type = FieldType::integer,
                   .defaultValue = 64,
                   .hard = Range{1, 16777216},
                   .comfortable = Range{1, 65536},
                   .important = true},
                  {.key = "base_axis",
                   .label = "Base axis",
                   .help = "How many leading axes of the sample are kept; 0 flattens all of it.",
                   .type = FieldType::integer,
                   .defaultValue = 0,
                   .hard = Range{0, 6}},
                  parts::biasField()};
  for (Field& field : initializerFields("he_normal")) entry.fields.push_back(std::move(field));
  return entry;
}

// The kept axes, and the number of inputs that the rest holds.
std::pair<std::vector<std::int64_t>, std::int64_t> split(const Values& values, const Shape& input) {
  const std::int64_t kept = values.integer("base_axis");
  const auto rank = static_cast<std::int64_t>(input.rank());
  if (kept >= std::max<std::int64_t>(rank, 1))
    throw LayerError(fmt::format("'base_axis' keeps {}, but the input {} has only {}, and one must be left",
                                 counted(kept, "axes"), parts::shapeText(input), rank),
                     "base_axis", std::max<std::int64_t>(rank - 1, 0));
  const std::vector<std::int64_t> axes(input.begin(), input.begin() + kept);
  return {axes, Shape(std::vector<std::int64_t>(input.begin() + kept, input.end())).elements()};
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  auto [axes, inputs] = split(arguments.values, arguments.inputs[0]);
  axes.push_back(arguments.values.integer("outputs"));
  return {Shape(std::move(axes))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Values& values = arguments.values;
  auto [axes, inputs] = split(values, parts::sampleShape(arguments));
  const std::int64_t outputs = values.integer("outputs");
  const Fan fan{static_cast<double>(inputs), static_cast<double>(outputs)};
  const TensorId weight = parts::weightInUse(
      arguments,
      parts::parameter(arguments, "weight", {outputs, inputs}, ParameterKind::weight, weightInitializer(values, fan)));
  TensorId bias = kNoTensor;
  if (values.boolean("bias"))
    bias = parts::parameter(arguments, "bias", {outputs}, ParameterKind::bias, biasInitializer(values, fan));
  axes.push_back(inputs);
  const TensorId x = parts::reshaped(arguments, arguments.inputs[0], Shape(std::move(axes)));
  return {arguments.builder.add("matmul", {x, weight, bias}, {{"transpose_a", false}, {"transpose_b", true}})};
}

}  // namespace linear_layer

const LayerDefinition& defineLinearLayer() {
  using namespace linear_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
