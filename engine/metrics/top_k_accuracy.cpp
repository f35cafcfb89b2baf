#include <fmt/format.h>

#include "engine/base/words.h"
#include "engine/layers/layer_error.h"
#include "engine/layers/loss_parts.h"
#include "engine/metrics/accuracy_parts.h"

namespace loom {
namespace top_k_accuracy_metric {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "TopKAccuracy";
  entry.aliases = {"Top5", "TopNAccuracy"};
  entry.summary = "The share of samples whose right class is among the k largest scores.";
  entry.help =
      "Top-5 accuracy is usual for ImageNet's 1,000 classes, where several answers are often right. Of equal scores "
      "the smaller class number counts as larger. TopNError is 1 minus this. Nothing flows back from it.";
  addClassPorts(entry, "Accuracy");
  entry.fields = {{.key = "k",
                   .label = "K",
                   .help = "How many of the largest scores count.",
                   .type = FieldType::integer,
                   .defaultValue = 5,
                   .hard = Range{1, 16777216},
                   .comfortable = Range{1, 100},
                   .important = true}};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  const std::vector<Shape> result = classMetricShapes(arguments);
  const std::int64_t k = arguments.values.integer("k"), classes = arguments.inputs[0][-1];
  if (k > classes)
    throw LayerError(
        fmt::format("'k' is {}, but there {} only {}", k, classes == 1 ? "is" : "are", counted(classes, "classes")),
        "k", classes);
  return result;
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return finishMetric(arguments, topKShare(arguments, arguments.values.integer("k")));
}

}  // namespace top_k_accuracy_metric

const LayerDefinition& defineTopKAccuracyLayer() {
  using namespace top_k_accuracy_metric;
  static const LayerDefinition definition{
      entry(), shapes, lower, LayerRole::metric, {.goal = Goal::higher, .isShare = true}};
  return definition;
}

}  // namespace loom
