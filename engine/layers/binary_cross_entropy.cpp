#include "engine/layers/entry_parts.h"
#include "engine/layers/loss_parts.h"

namespace loom {
namespace binary_cross_entropy_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "BinaryCrossEntropy";
  entry.category = entry.icon = "lossMetric";
  entry.aliases = {"BCE", "BCELoss", "BCEWithLogitsLoss", "SigmoidCrossEntropy"};
  entry.summary = "The loss of yes-or-no questions, one or many at once.";
  entry.help =
      "loss = −(t · log p + (1 − t) · log(1 − p)), the mean over all values; the target t is 0, 1 or between. From "
      "logits, p = sigmoid(x) is inside and is computed as max(x, 0) − x · t + log(1 + e^(−|x|)), which never "
      "overflows; from probabilities, p is the input (after a Sigmoid), kept within 10⁻⁷ of 0 and 1.\n\n"
      "It is the loss of a binary classifier, of several labels at once, of an autoencoder over pixels and of a GAN's "
      "discriminator. A network that knows nothing has a loss of log 2 = 0.693.";
  entry.inputs = {parts::valuesIn("Logits or probabilities, any shape."),
                  targetPort(PortType::values, "0, 1 or between, in the input's shape.")};
  entry.outputs = {{.key = "output", .label = "Loss", .help = "One number."}};
  entry.fields = {{.key = "from",
                   .label = "From",
                   .help = "What the input is.",
                   .type = FieldType::choice,
                   .defaultValue = "logits",
                   .choices = {{"logits", "Logits", "Any number; the sigmoid is inside the loss."},
                               {"probabilities", "Probabilities", "Numbers from 0 to 1, after a Sigmoid."}},
                   .important = true},
                  classWeightsField("Two weights, of no and of yes (targets 0 and 1), against the rarer of both."),
                  lossWeightField()};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  needEqualTarget(arguments);
  needClassWeights(arguments, 2);
  return {Shape{}};
}

// −log of a chance: of x itself where `yes`, else of 1 − x.
TensorId surprise(const LowerArguments& a, TensorId x, bool yes) {
  constexpr double kLeast = 1e-7;
  if (a.values.text("from") == "logits") return parts::unary(a, "softplus", yes ? parts::scaled(a, x, -1) : x);
  const TensorId p = yes ? x : parts::scaled(a, x, -1, 1);
  const TensorId kept = parts::binary(a, "minimum", parts::binary(a, "maximum", p, parts::number(a, p, kLeast)),
                                      parts::number(a, p, 1 - kLeast));
  return parts::scaled(a, parts::unary(a, "log", kept), -1);
}

// The mean over all values of w₁ · t · −log p + w₀ · (1 − t) · −log(1 − p).
TensorId weighed(const LowerArguments& a, const std::vector<double>& weights) {
  const TensorId x = a.inputs[0], target = a.inputs[1];
  const TensorId yes = parts::binary(a, "multiply", surprise(a, x, true), parts::scaled(a, target, weights[1]));
  const TensorId no =
      parts::binary(a, "multiply", surprise(a, x, false), parts::scaled(a, target, -weights[0], weights[0]));
  return a.builder.add("reduce", {parts::binary(a, "add", yes, no)}, {{"function", std::string("mean")}});
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  if (const std::vector<double> weights = arguments.values.reals("class_weights"); !weights.empty())
    return finishLoss(arguments, weighed(arguments, weights));
  return finishLoss(arguments, arguments.builder.add("binary_cross_entropy", {arguments.inputs[0], arguments.inputs[1]},
                                                     {{"from_logits", arguments.values.text("from") == "logits"}}));
}

}  // namespace binary_cross_entropy_layer

const LayerDefinition& defineBinaryCrossEntropyLayer() {
  using namespace binary_cross_entropy_layer;
  static const LayerDefinition definition{entry(), shapes, lower, LayerRole::loss};
  return definition;
}

}  // namespace loom
