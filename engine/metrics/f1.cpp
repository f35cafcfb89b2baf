#include "engine/layers/entry_parts.h"
#include "engine/metrics/accuracy_parts.h"
#include "engine/metrics/class_counts.h"
#include "engine/metrics/sums.h"

namespace loom {
namespace f1_metric {

double ratio(const ClassCounts& counts) {
  const double all = counts.said + counts.truth;
  return all > 0 ? 2 * counts.right / all : 0;
}

Entry entry() {
  return averageEntry("F1", {"F1Score", "FScore"},
                      "Precision and recall of classes in one number: the harmonic mean of both.",
                      "F1 = 2 · right / (said + true), of a class: how often it was said, how often it was the truth, "
                      "and how often both. 0 where it was never right.");
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return lowerAverage(arguments, kMacroSums<ratio>, kMicroSums<ratio>);
}

std::vector<TensorId> lowerBinary(const LowerArguments& arguments) {
  return lowerChances(arguments, kMicroSums<ratio>);
}

}  // namespace f1_metric

const LayerDefinition& defineF1Layer() {
  using namespace f1_metric;
  static const LayerDefinition definition{
      entry(), averageShapes, lower, LayerRole::metric, {.goal = Goal::higher, .isShare = true}};
  return definition;
}

const LayerDefinition& defineBinaryF1Layer() {
  using namespace f1_metric;
  static const LayerDefinition definition{
      chanceEntry("BinaryF1", {"Dice"}, "The F1 of yes-or-no answers; of a mask, the Dice coefficient.",
                  "F1 = 2 · right / (said + true), right being where yes is said and true."),
      equalTargetShapes,
      lowerBinary,
      LayerRole::metric,
      {.goal = Goal::higher, .isShare = true}};
  return definition;
}

}  // namespace loom
