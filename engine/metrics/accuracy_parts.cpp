#include "engine/metrics/accuracy_parts.h"

#include "engine/layers/entry_parts.h"
#include "engine/layers/loss_parts.h"

namespace loom {

void addClassPorts(Entry& entry, std::string resultLabel) {
  entry.category = entry.icon = "lossMetric";
  entry.inputs = {
      parts::valuesIn(
          "One score for each class: K, or T×K for a sequence. Logits or probabilities: only their order counts."),
      targetPort(PortType::labels, "The right class, from 0: an Input of type label; T labels for a sequence.")};
  entry.outputs = {{.key = "output", .label = std::move(resultLabel), .help = "One number, from 0 to 1."}};
}

TensorId topKShare(const LowerArguments& arguments, std::int64_t k) {
  return arguments.builder.add("top_k_accuracy", {arguments.inputs[0], arguments.inputs[1]}, {{"k", k}});
}

std::vector<Shape> classMetricShapes(const ShapeArguments& arguments) {
  needClassTarget(arguments);
  return {Shape{}};
}

}  // namespace loom
