#include "engine/layers/entry_parts.h"
#include "engine/metrics/accuracy_parts.h"
#include "engine/metrics/class_counts.h"
#include "engine/metrics/sums.h"

namespace loom {
namespace recall_metric {

double ratio(const ClassCounts& counts) {
  return counts.truth > 0 ? counts.right / counts.truth : 0;
}

Entry entry() {
  return averageEntry("Recall", {"Sensitivity", "TruePositiveRate"}, "How many of the samples of a class are found.",
                      "recall = right / true, of a class: how often it was the truth, and how often it was said then. "
                      "0 where it is said and never true.");
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return lowerAverage(arguments, kMacroSums<ratio>, kMicroSums<ratio>);
}

std::vector<TensorId> lowerBinary(const LowerArguments& arguments) {
  return lowerChances(arguments, kMicroSums<ratio>);
}

}  // namespace recall_metric

const LayerDefinition& defineRecallLayer() {
  using namespace recall_metric;
  static const LayerDefinition definition{
      entry(), averageShapes, lower, LayerRole::metric, {.goal = Goal::higher, .isShare = true}};
  return definition;
}

const LayerDefinition& defineBinaryRecallLayer() {
  using namespace recall_metric;
  static const LayerDefinition definition{
      chanceEntry("BinaryRecall", {}, "How many of the true yes are found.",
                  "recall = right / true: of the true yes, the share that was said; 0 where none is true."),
      equalTargetShapes,
      lowerBinary,
      LayerRole::metric,
      {.goal = Goal::higher, .isShare = true}};
  return definition;
}

}  // namespace loom
