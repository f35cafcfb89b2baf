#include "engine/layers/entry_parts.h"
#include "engine/metrics/accuracy_parts.h"
#include "engine/metrics/class_counts.h"
#include "engine/metrics/sums.h"

namespace loom {
namespace precision_metric {

double ratio(const ClassCounts& counts) {
  return counts.said > 0 ? counts.right / counts.said : 0;
}

Entry entry() {
  return averageEntry("Precision", {}, "How often a class is right where it is said.",
                      "precision = right / said, of a class: how often it was said, and how often rightly. 0 where it "
                      "is true and never said.");
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return lowerAverage(arguments, kMacroSums<ratio>, kMicroSums<ratio>);
}

std::vector<TensorId> lowerBinary(const LowerArguments& arguments) {
  return lowerChances(arguments, kMicroSums<ratio>);
}

}  // namespace precision_metric

const LayerDefinition& definePrecisionLayer() {
  using namespace precision_metric;
  static const LayerDefinition definition{
      entry(), averageShapes, lower, LayerRole::metric, {.goal = Goal::higher, .isShare = true}};
  return definition;
}

const LayerDefinition& defineBinaryPrecisionLayer() {
  using namespace precision_metric;
  static const LayerDefinition definition{
      chanceEntry(
          "BinaryPrecision", {}, "How often a yes is right.",
          "precision = right / said: of the yes that were said, the share that is true; 0 where none was said."),
      equalTargetShapes,
      lowerBinary,
      LayerRole::metric,
      {.goal = Goal::higher, .isShare = true}};
  return definition;
}

}  // namespace loom
