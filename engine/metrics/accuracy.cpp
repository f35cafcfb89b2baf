#include "engine/layers/loss_parts.h"
#include "engine/metrics/accuracy_parts.h"

namespace loom {
namespace accuracy_metric {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Accuracy";
  entry.aliases = {"CategoricalAccuracy", "Top1", "Metric"};
  entry.summary = "The share of samples whose largest score is that of the right class.";
  entry.help =
      "accuracy = mean over the samples of [argmax x = label]; of equal scores the first counts. It is measured, not "
      "trained: nothing flows back from it.\n\n"
      "With K equally frequent classes, guessing gives 1 / K.";
  addClassPorts(entry, "Accuracy");
  return entry;
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return finishMetric(arguments, topKShare(arguments, 1));
}

}  // namespace accuracy_metric

const LayerDefinition& defineAccuracyLayer() {
  using namespace accuracy_metric;
  static const LayerDefinition definition{
      entry(), classMetricShapes, lower, LayerRole::metric, {.goal = Goal::higher, .isShare = true, .isPrimary = true}};
  return definition;
}

}  // namespace loom
