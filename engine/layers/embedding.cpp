#include "engine/layers/entry_parts.h"
#include "engine/layers/initializers.h"

namespace loom {
namespace embedding_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Embedding";
  entry.category = "linear";
  entry.icon = "embedding";
  entry.aliases = {"Embed", "LookupTable", "WordEmbedding"};
  entry.summary = "A learned vector for each symbol: looks up the row of its index.";
  entry.help =
      "y[t] = W[index[t]]: row index of a table of vocabulary × channels. An index outside of 0 to vocabulary − 1 "
      "ends the run with the row of the dataset that holds it. The gradient reaches only the rows that were looked "
      "up.\n\n"
      "Parameters: weight vocabulary × channels, drawn from N(0, 1) as PyTorch does unless Weights says otherwise.";
  entry.inputs = {{.key = "input",
                   .label = "Indices",
                   .help = "An Input of type index (or label): T whole numbers.",
                   .type = PortType::indices}};
  entry.outputs = {parts::valuesOut("The shape of the indices × channels: T×C for a text of T symbols.")};
  entry.fields = {{.key = "vocabulary",
                   .label = "Vocabulary",
                   .help = "Number of symbols: the largest index + 1.",
                   .type = FieldType::integer,
                   .defaultValue = 256,
                   .hard = Range{1, 16777216},
                   .important = true},
                  {.key = "channels",
                   .label = "Channels",
                   .help = "Length of each symbol's vector.",
                   .type = FieldType::integer,
                   .defaultValue = 64,
                   .hard = Range{1, parts::kMostChannels},
                   .comfortable = Range{1, 8192},
                   .important = true}};
  for (Field& field : initializerFields("normal")) entry.fields.push_back(std::move(field));
  for (Field& field : entry.fields)
    if (field.key == "deviation") field.defaultValue = 1.0;
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  std::vector<std::int64_t> extents = arguments.inputs[0].extents();
  extents.push_back(arguments.values.integer("channels"));
  return {Shape(std::move(extents))};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const std::int64_t vocabulary = arguments.values.integer("vocabulary"),
                     channels = arguments.values.integer("channels");
  const Fan fan{static_cast<double>(vocabulary), static_cast<double>(channels)};
  const TensorId weight = parts::parameter(arguments, "weight", {vocabulary, channels}, ParameterKind::weight,
                                           weightInitializer(arguments.values, fan));
  return {arguments.builder.add("embedding", {arguments.inputs[0], weight})};
}

}  // namespace embedding_layer

const LayerDefinition& defineEmbeddingLayer() {
  using namespace embedding_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
