// TopNError and BinaryError: one less the accuracies, as Sony NNC shows them.
#include "engine/layers/entry_parts.h"
#include "engine/layers/loss_parts.h"

namespace loom {

const LayerDefinition& defineTopKAccuracyLayer();
const LayerDefinition& defineBinaryAccuracyLayer();

namespace further_errors {

// The entry of an accuracy under another name, with the same ports and fields.
Entry errorOf(Entry entry, std::string id, std::string summary, std::string help) {
  entry.id = entry.label = std::move(id);
  entry.aliases.clear();
  entry.summary = std::move(summary);
  entry.help = std::move(help);
  entry.outputs[0].label = "Error";
  return entry;
}

std::vector<TensorId> lowerTopN(const LowerArguments& a) {
  const TensorId share = a.builder.add("top_k_accuracy", {a.inputs[0], a.inputs[1]}, {{"k", a.values.integer("k")}});
  return finishMetric(a, parts::scaled(a, share, -1, 1));
}

std::vector<TensorId> lowerBinary(const LowerArguments& a) {
  const TensorId p = a.values.text("from") == "logits" ? parts::unary(a, "sigmoid", a.inputs[0]) : a.inputs[0];
  const TensorId share =
      a.builder.add("binary_accuracy", {p, a.inputs[1]}, {{"threshold", a.values.real("threshold")}});
  return finishMetric(a, parts::scaled(a, share, -1, 1));
}

}  // namespace further_errors

const LayerDefinition& defineTopNErrorLayer() {
  using namespace further_errors;
  const LayerDefinition& accuracy = defineTopKAccuracyLayer();
  static const LayerDefinition definition{
      errorOf(accuracy.entry, "TopNError", "The share of samples whose right class is not among the k largest scores.",
              "error = 1 − TopKAccuracy. Of equal scores the smaller class number counts as larger. Nothing flows back "
              "from it."),
      accuracy.shapes,
      lowerTopN,
      LayerRole::metric,
      {.isShare = true}};
  return definition;
}

const LayerDefinition& defineBinaryErrorLayer() {
  using namespace further_errors;
  const LayerDefinition& accuracy = defineBinaryAccuracyLayer();
  static const LayerDefinition definition{
      errorOf(accuracy.entry, "BinaryError", "The share of yes-or-no answers that are wrong.",
              "error = 1 − BinaryAccuracy: wire the same input as to the loss and say the same in From. Nothing flows "
              "back from it."),
      accuracy.shapes,
      lowerBinary,
      LayerRole::metric,
      {.isShare = true}};
  return definition;
}

}  // namespace loom
