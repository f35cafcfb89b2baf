#include <cmath>

#include "engine/layers/entry_parts.h"
#include "engine/layers/recurrent.h"

namespace loom {
namespace gru_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "GRU";
  entry.category = entry.icon = "recurrentAttention";
  entry.aliases = {"GatedRecurrentUnit"};
  entry.summary = "Reads a sequence step by step, with fewer gates than an LSTM and one state.";
  entry.help =
      "With σ the sigmoid and ⊙ the product value by value, at each step t: r = σ(Wr x + Ur h + br), z = σ(Wz x + Uz "
      "h + bz), n = tanh(Wn x + bn + r ⊙ (Un h + un)); then h ← (1 − z) ⊙ n + z ⊙ h, beginning as zeros. The reset "
      "gate stands after the product with U, as in PyTorch and cuDNN.\n\n"
      "Parameters: weight_input 3·units × C, weight_hidden 3·units × units, bias and bias_hidden 3·units each, gates "
      "in the order r, z, n; all drawn from U(−1/√units, 1/√units). Cho et al., arXiv 1406.1078.";
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
      parts::parameter(arguments, "weight_input" + suffix, {3 * units, channels}, ParameterKind::weight, uniform);
  const TensorId hidden =
      parts::parameter(arguments, "weight_hidden" + suffix, {3 * units, units}, ParameterKind::weight, uniform);
  TensorId bias = kNoTensor, biasHidden = kNoTensor;
  if (arguments.values.boolean("bias")) {
    bias = parts::parameter(arguments, "bias" + suffix, {3 * units}, ParameterKind::bias, uniform);
    biasHidden = parts::parameter(arguments, "bias_hidden" + suffix, {3 * units}, ParameterKind::bias, uniform);
  }
  return arguments.builder.add("gru", {arguments.inputs[0], input, hidden, bias, biasHidden}, {{"reverse", reverse}});
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return lowerRecurrent(arguments, run);
}

}  // namespace gru_layer

const LayerDefinition& defineGRULayer() {
  using namespace gru_layer;
  static const LayerDefinition definition{entry(), recurrentShapes, lower};
  return definition;
}

}  // namespace loom
