#include "engine/layers/entry_parts.h"
#include "engine/metrics/accuracy_parts.h"
#include "engine/metrics/class_counts.h"
#include "engine/metrics/sums.h"

namespace loom {
namespace mean_iou_metric {

double ratio(const ClassCounts& counts) {
  const double united = counts.said + counts.truth - counts.right;
  return united > 0 ? counts.right / united : 0;
}

Entry entry() {
  Entry entry;
  entry.id = entry.label = "MeanIoU";
  entry.aliases = {"MIoU", "JaccardIndex"};
  entry.summary = "How well the places of each class are covered: intersection over union, the mean over classes.";
  entry.help =
      "IoU = right / (said + true − right), of a class over all places of all samples; the number is the mean over the "
      "classes that were said or true. Of a picture, give a row of scores for each pixel: T×K with T = rows · columns, "
      "by a Reshape and a Transpose. The counts are summed over all batches and ranks, so it is that of the whole "
      "dataset and no mean over batches. Nothing flows back from it.";
  addClassPorts(entry, "Share");
  return entry;
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return lowerClasses(arguments, kMacroSums<ratio>);
}

std::vector<TensorId> lowerBinary(const LowerArguments& arguments) {
  return lowerChances(arguments, kMicroSums<ratio>);
}

}  // namespace mean_iou_metric

const LayerDefinition& defineMeanIoULayer() {
  using namespace mean_iou_metric;
  static const LayerDefinition definition{
      entry(), classMetricShapes, lower, LayerRole::metric, {.goal = Goal::higher, .isShare = true}};
  return definition;
}

const LayerDefinition& defineBinaryIoULayer() {
  using namespace mean_iou_metric;
  static const LayerDefinition definition{
      chanceEntry("BinaryIoU", {"BinaryJaccardIndex"}, "How well a mask covers the true one: intersection over union.",
                  "IoU = right / (said + true − right): the values in both masks over those in any."),
      equalTargetShapes,
      lowerBinary,
      LayerRole::metric,
      {.goal = Goal::higher, .isShare = true}};
  return definition;
}

}  // namespace loom
