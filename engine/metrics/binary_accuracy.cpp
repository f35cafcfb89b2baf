#include "engine/layers/entry_parts.h"
#include "engine/layers/loss_parts.h"

namespace loom {
namespace binary_accuracy_metric {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "BinaryAccuracy";
  entry.category = entry.icon = "lossMetric";
  entry.aliases = {"BinaryMetric"};
  entry.summary = "The share of yes-or-no answers that are right.";
  entry.help =
      "accuracy = mean over all values of [(p > threshold) = (t > 1/2)], with p = sigmoid(x) where the input is "
      "logits. It goes with BinaryCrossEntropy: wire the same input and say the same in From. Nothing flows back from "
      "it.";
  entry.inputs = {parts::valuesIn("Logits or probabilities, any shape."),
                  targetPort(PortType::values, "0 or 1, in the input's shape.")};
  entry.outputs = {{.key = "output", .label = "Accuracy", .help = "One number, from 0 to 1."}};
  entry.fields = {{.key = "from",
                   .label = "From",
                   .help = "What the input is.",
                   .type = FieldType::choice,
                   .defaultValue = "logits",
                   .choices = {{"logits", "Logits", "Any number; the sigmoid is inside."},
                               {"probabilities", "Probabilities", "Numbers from 0 to 1, after a Sigmoid."}},
                   .important = true},
                  {.key = "threshold",
                   .label = "Threshold",
                   .help = "Probability above which the answer is yes.",
                   .type = FieldType::real,
                   .defaultValue = 0.5,
                   .hard = Range{0.0001, 0.9999}}};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  needEqualTarget(arguments);
  return {Shape{}};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  TensorId p = arguments.inputs[0];
  if (arguments.values.text("from") == "logits")
    p = arguments.builder.add("unary", {p}, {{"function", std::string("sigmoid")}});
  return finishMetric(arguments, arguments.builder.add("binary_accuracy", {p, arguments.inputs[1]},
                                                       {{"threshold", arguments.values.real("threshold")}}));
}

}  // namespace binary_accuracy_metric

const LayerDefinition& defineBinaryAccuracyLayer() {
  using namespace binary_accuracy_metric;
  static const LayerDefinition definition{
      entry(), shapes, lower, LayerRole::metric, {.goal = Goal::higher, .isShare = true, .isPrimary = true}};
  return definition;
}

}  // namespace loom
