#include "engine/layers/loss_parts.h"
#include "engine/metrics/accuracy_parts.h"

namespace loom {
namespace error_metric {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "Error";
  entry.aliases = {"ClassificationError", "CategoricalError", "ErrorRate"};
  entry.summary = "The share of samples that are put into a wrong class: 1 − accuracy.";
  entry.help =
      "error = mean over the samples of [argmax x ≠ label]; of equal scores the first counts. Nothing flows back from "
      "it.";
  addClassPorts(entry, "Error");
  return entry;
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const TensorId accuracy = topKShare(arguments, 1);
  return finishMetric(arguments, arguments.builder.add("scale", {accuracy}, {{"factor", -1.0}, {"offset", 1.0}}));
}

}  // namespace error_metric

const LayerDefinition& defineErrorLayer() {
  using namespace error_metric;
  static const LayerDefinition definition{entry(), classMetricShapes, lower, LayerRole::metric, {.isShare = true}};
  return definition;
}

}  // namespace loom
