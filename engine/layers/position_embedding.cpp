#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/initializers.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace position_embedding_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "PositionEmbedding";
  entry.category = "linear";
  entry.icon = "embedding";
  entry.aliases = {"PositionalEncoding", "PositionalEmbedding"};
  entry.summary = "Adds a learned vector for each place in a sequence, so that attention can tell places apart.";
  entry.help =
      "y[t, c] = x[t, c] + W[t, c]. Attention by itself does not know the order of its inputs; after an Embedding "
      "this layer tells it. As in GPT-2 and BERT the vectors are learned.\n\n"
      "Parameters: weight T × C, drawn from N(0, 0.02²). Gehring et al., Convolutional sequence to sequence learning, "
      "arXiv 1705.03122; Radford et al. 2019.";
  entry.inputs = {parts::valuesIn("A sequence T × C.")};
  entry.outputs = {parts::valuesOut("The same shape.")};
  entry.fields = initializerFields("normal");
  for (Field& field : entry.fields)
    if (field.key == "deviation") field.defaultValue = 0.02;
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& input = arguments.inputs[0];
  if (input.rank() != 2)
    throw LayerError(fmt::format("the input is {}, but a sequence of steps × channels is wanted, such as 128×64",
                                 parts::shapeText(input)),
                     "");
  return {input};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Shape input = parts::sampleShape(arguments);
  const Fan fan{static_cast<double>(input[0]), static_cast<double>(input[1])};
  const TensorId weight =
      parts::parameter(arguments, "weight", input, ParameterKind::weight, weightInitializer(arguments.values, fan));
  const TensorId row =
      arguments.builder.add("reshape", {weight}, {{"shape", std::vector<std::int64_t>{1, input[0], input[1]}}});
  return {arguments.builder.add("binary", {arguments.inputs[0], row}, {{"function", std::string("add")}})};
}

}  // namespace position_embedding_layer

const LayerDefinition& definePositionEmbeddingLayer() {
  using namespace position_embedding_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
