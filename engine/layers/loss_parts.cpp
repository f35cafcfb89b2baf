#include "engine/layers/loss_parts.h"

#include <fmt/format.h>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {

Port targetPort(PortType type, std::string help) {
  return {.key = "target", .label = "Target", .help = std::move(help), .type = type};
}

Field lossWeightField() {
  return {.key = "weight",
          .label = "Weight",
          .help = "What this loss counts in the sum of all losses of the network; 0.3 for an auxiliary one, say.",
          .type = FieldType::real,
          .defaultValue = 1.0,
          .hard = Range{-1e6, 1e6},
          .comfortable = Range{0, 1000}};
}

void needEqualTarget(const ShapeArguments& arguments) {
  if (arguments.inputs[0] != arguments.inputs[1])
    throw LayerError(fmt::format("the input is {}, but the target is {}: they must be equal",
                                 parts::shapeText(arguments.inputs[0]), parts::shapeText(arguments.inputs[1])),
                     "");
}

void needClassTarget(const ShapeArguments& arguments) {
  const Shape &scores = arguments.inputs[0], &labels = arguments.inputs[1];
  if (scores.rank() != 1 && scores.rank() != 2)
    throw LayerError(fmt::format("the input is {}, but one score for each class is wanted, such as 10 (or 128×50 for a "
                                 "sequence): put a Linear before it",
                                 parts::shapeText(scores)),
                     "");
  const Shape wanted = scores.rank() == 1 ? Shape{1} : Shape{scores[0]};
  if (labels != wanted)
    throw LayerError(fmt::format("the input is {}, so the target must be {} {}, but it is {}", parts::shapeText(scores),
                                 wanted[0], wanted[0] == 1 ? "label" : "labels", parts::shapeText(labels)),
                     "");
}

std::vector<TensorId> finishLoss(const LowerArguments& arguments, TensorId loss) {
  if (const double weight = arguments.values.real("weight"); weight != 1)
    loss = arguments.builder.add("scale", {loss}, {{"factor", weight}, {"offset", 0.0}});
  arguments.builder.result(arguments.id, ResultKind::loss, loss);
  return {loss};
}

std::vector<TensorId> finishMetric(const LowerArguments& arguments, TensorId metric) {
  arguments.builder.result(arguments.id, ResultKind::metric, metric);
  return {metric};
}

}  // namespace loom
