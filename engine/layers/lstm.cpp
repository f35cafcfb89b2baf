#include <cmath>

#include "engine/layers/entry_parts.h"
#include "engine/layers/recurrent.h"

namespace loom {
namespace lstm_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "LSTM";
  entry.category = entry.icon = "recurrentAttention";
  entry.aliases = {"LongShortTermMemory"};
  for (const char* name : {"RNN", "Recurrent"})
    entry.relatives.push_back(
        {name, "would be a plain recurrence without gates, which is not there: write \"LSTM\" or \"GRU\""});
  entry.summary = "Reads a sequence step by step and remembers: a state with gates that decide what is kept.";
  entry.help =
      "With σ the sigmoid and ⊙ the product value by value, at each step t: i = σ(Wi x + Ui h + bi), f = σ(Wf x + Uf "
      "h + bf), g = tanh(Wg x + Ug h + bg), o = σ(Wo x + Uo h + bo); the cell c ← f ⊙ c + i ⊙ g and the output h ← o "
      "⊙ tanh(c). Both begin as zeros.\n\n"
      "Parameters: weight_input 4·units × C, weight_hidden 4·units × units, bias 4·units, gates in the order i, f, g, "
      "o; all drawn from U(−1/√units, 1/√units) as in PyTorch (which has two biases; they add up to this one). "
      "Hochreiter and Schmidhuber, Neural Computation 9, 1997; forget gate: Gers et al., Neural Computation 12, 2000.";
  entry.inputs = {parts::valuesIn("A sequence T × C.")};
  entry.outputs = {parts::valuesOut("T × units, or units where only the last state is returned.")};
  entry.fields = recurrentFields();
  entry.fields.push_back(parts::biasField());
  return entry;
}

TensorId run(const LowerArguments& arguments, std::int64_t units, bool reverse, const std::string& suffix) {
  const std::int64_t channels = parts::sampleShape(arguments)[1];
  const Initializer uniform{InitializerKind::uniform, 1 / std::sqrt(static_cast<double>(units))};
  const TensorId input =
      parts::parameter(arguments, "weight_input" + suffix, {4 * units, channels}, ParameterKind::weight, uniform);
  const TensorId hidden =
      parts::parameter(arguments, "weight_hidden" + suffix, {4 * units, units}, ParameterKind::weight, uniform);
  TensorId bias = kNoTensor;
  if (arguments.values.boolean("bias"))
    bias = parts::parameter(arguments, "bias" + suffix, {4 * units}, ParameterKind::bias, uniform);
  return arguments.builder.add("lstm", {arguments.inputs[0], input, hidden, bias, kNoTensor, kNoTensor},
                               {{"reverse", reverse}});
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return lowerRecurrent(arguments, run);
}

}  // namespace lstm_layer

const LayerDefinition& defineLSTMLayer() {
  using namespace lstm_layer;
  static const LayerDefinition definition{entry(), recurrentShapes, lower};
  return definition;
}

}  // namespace loom
