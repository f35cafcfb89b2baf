#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/initializers.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace multi_head_attention_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "MultiHeadAttention";
  entry.category = "recurrentAttention";
  entry.icon = "attention";
  entry.aliases = {"SelfAttention", "Attention", "MHA", "CrossAttention"};
  entry.summary = "Every place of a sequence looks at all others and mixes in what it needs.";
  entry.help =
      "q = Wq x + bq, k = Wk x' + bk, v = Wv x'' + bv are split into heads of d = C / heads channels; each head "
      "answers softmax(q kᵀ / √d) v, the heads stand side by side again, and y = Wo · heads + bo. With only the query "
      "wired it is self-attention; a key (and value) from elsewhere makes it cross-attention.\n\n"
      "Causal hides the future: place t sees places up to t only, as a model that continues texts must. Attention "
      "does not know the order of its inputs: put a PositionEmbedding before it.\n\n"
      "Parameters: weight_query, weight_key, weight_value, weight_output C × C each and their biases. Vaswani et al., "
      "Attention is all you need, arXiv 1706.03762.";
  entry.inputs = {
      {.key = "query", .label = "Query", .help = "A sequence T × C: who looks."},
      {.key = "key",
       .label = "Key",
       .help = "A sequence T × C that is looked at; absent: the query itself.",
       .optional = true},
      {.key = "value", .label = "Value", .help = "What is mixed in; absent: as the key.", .optional = true}};
  entry.outputs = {parts::valuesOut("The query's shape.")};
  entry.fields = {{.key = "heads",
                   .label = "Heads",
                   .help = "Parts into which the channels are split; each attends by itself.",
                   .type = FieldType::integer,
                   .defaultValue = 4,
                   .hard = Range{1, 4096},
                   .comfortable = Range{1, 128},
                   .important = true},
                  {.key = "causal",
                   .label = "Causal",
                   .help = "Each place sees itself and what came before it only.",
                   .type = FieldType::boolean,
                   .defaultValue = false,
                   .important = true},
                  parts::biasField()};
  for (Field& field : initializerFields("xavier_uniform")) entry.fields.push_back(std::move(field));
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const Shape& query = arguments.inputs[0];
  if (query.rank() != 2)
    throw LayerError(fmt::format("the query is {}, but a sequence of steps × channels is wanted, such as 128×64",
                                 parts::shapeText(query)),
                     "");
  // Optional inputs that are not wired are not in the list; what is wired must look like the query.
  for (std::size_t i = 1; i < arguments.inputs.size(); ++i)
    if (arguments.inputs[i] != query)
      throw LayerError(fmt::format("the query is {}, but the {} is {}: they must be equal", parts::shapeText(query),
                                   i == 1 ? "key" : "value", parts::shapeText(arguments.inputs[i])),
                       "");
  const std::int64_t heads = arguments.values.integer("heads"), channels = query[1];
  if (channels % heads != 0) {
    std::int64_t fitting = std::min(heads, channels);
    while (channels % fitting != 0) --fitting;
    throw LayerError(fmt::format("{} channels cannot be split into {} heads of equal size", channels, heads), "heads",
                     fitting);
  }
  return {query};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const Values& values = arguments.values;
  ProgramBuilder& builder = arguments.builder;
  const std::int64_t channels = parts::sampleShape(arguments)[1];
  const Fan fan{static_cast<double>(channels), static_cast<double>(channels)};
  const auto project = [&](TensorId x, const std::string& name) {
    const TensorId weight = parts::parameter(arguments, "weight_" + name, {channels, channels}, ParameterKind::weight,
                                             weightInitializer(values, fan));
    TensorId bias = kNoTensor;
    if (values.boolean("bias"))
      bias = parts::parameter(arguments, "bias_" + name, {channels}, ParameterKind::bias, biasInitializer(values, fan));
    return builder.add("matmul", {x, weight, bias}, {{"transpose_a", false}, {"transpose_b", true}});
  };
  const TensorId query = arguments.inputs[0];
  const TensorId key = arguments.inputs[1] == kNoTensor ? query : arguments.inputs[1];
  const TensorId value = arguments.inputs[2] == kNoTensor ? key : arguments.inputs[2];
  const TensorId q = project(query, "query"), k = project(key, "key"), v = project(value, "value");
  const TensorId mixed =
      builder.add("attention", {q, k, v}, {{"heads", values.integer("heads")}, {"causal", values.boolean("causal")}});
  return {project(mixed, "output")};
}

}  // namespace multi_head_attention_layer

const LayerDefinition& defineMultiHeadAttentionLayer() {
  using namespace multi_head_attention_layer;
  static const LayerDefinition definition{entry(), shapes, lower};
  return definition;
}

}  // namespace loom
