#include "engine/layers/loss_parts.h"

#include <fmt/format.h>

#include <numeric>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"
#include "engine/ops/resample.h"

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

Field classWeightsField(std::string help) {
  return {.key = "class_weights",
          .label = "Class weights",
          .help = std::move(help) +
                  " Each sample's loss is multiplied by its class's weight before the mean is taken (over the number "
                  "of samples, as in Keras and scikit-learn; PyTorch divides by the sum of the weights instead). "
                  "Empty: all count alike, or what the setting Weigh classes measures.",
          .type = FieldType::reals,
          .defaultValue = Json::array(),
          .hard = Range{0, 1e6},
          .comfortable = Range{0, 1000}};
}

void needClassWeights(const ShapeArguments& arguments, std::int64_t classes) {
  const std::size_t given = arguments.values.reals("class_weights").size();
  if (given != 0 && static_cast<std::int64_t>(given) != classes)
    throw LayerError(fmt::format("'class_weights' has {} numbers, but there are {} classes", given, classes),
                     "class_weights");
}

TensorId oneHotLike(const LowerArguments& arguments, TensorId scores, TensorId labels) {
  const Shape shape = arguments.builder.shape(scores);
  const TensorId chosen = arguments.builder.add("one_hot", {labels}, {{"classes", shape[-1]}});
  return parts::reshaped(arguments, chosen, shape.withoutFirst());
}

TensorId logSoftmaxOf(const LowerArguments& arguments, TensorId x) {
  const std::vector<std::int64_t> last{static_cast<std::int64_t>(parts::sampleShape(arguments).rank()) - 1};
  const TensorId largest =
      arguments.builder.add("stop_gradient", {parts::reduced(arguments, "maximum", x, last, true)});
  const TensorId rest = parts::binary(arguments, "subtract", x, largest);
  const TensorId sum = parts::reduced(arguments, "sum", parts::unary(arguments, "exp", rest), last, true);
  return parts::binary(arguments, "subtract", rest, parts::unary(arguments, "log", sum));
}

TensorId weightsOfLabels(const LowerArguments& arguments, TensorId oneHot) {
  const Shape shape = arguments.builder.shape(oneHot);
  AxisMap sum;
  std::vector<std::int64_t> places(static_cast<std::size_t>(shape[-1]));
  std::iota(places.begin(), places.end(), 0);
  sum.addRow(places);
  sum.weights = arguments.values.reals("class_weights");
  return arguments.builder.add("resample", {oneHot}, attributesOf(sum, shape.rank() - 1));
}

void needEqualTarget(const ShapeArguments& arguments) {
  if (arguments.inputs[0] != arguments.inputs[1])
    throw LayerError(fmt::format("the input is {}, but the target is {}: they must be equal",
                                 parts::shapeText(arguments.inputs[0]), parts::shapeText(arguments.inputs[1])),
                     "");
}

void needClassTarget(const ShapeArguments& arguments) {
  const Shape &scores = arguments.inputs[0], &labels = arguments.inputs[1];
  // A picture with one label is one that somebody forgot to flatten.
  if (scores.rank() < 1 || scores.rank() > 3 || (scores.rank() == 3 && labels == Shape{1}))
    throw LayerError(
        fmt::format("the input is {}, but one score for each class is wanted, such as 10 (or 128×50 for a sequence, "
                    "64×64×21 for a class at each pixel): put a Linear before it",
                    parts::shapeText(scores)),
        "");
  Shape wanted{1};
  if (scores.rank() > 1)
    wanted = Shape(std::vector<std::int64_t>(scores.extents().begin(), scores.extents().end() - 1));
  if (labels != wanted)
    throw LayerError(
        fmt::format("the input is {}, so the target must be {} {}, but it is {}", parts::shapeText(scores),
                    parts::shapeText(wanted), wanted.elements() == 1 ? "label" : "labels", parts::shapeText(labels)),
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
