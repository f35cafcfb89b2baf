#include "engine/layers/entry_parts.h"
#include "engine/layers/loss_parts.h"

namespace loom {
namespace huber_loss_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "HuberLoss";
  entry.category = entry.icon = "lossMetric";
  entry.aliases = {"Huber", "SmoothL1", "SmoothL1Loss"};
  entry.summary =
      "A regression loss that is squared near the target and straight far from it, so that outliers weigh less.";
  entry.help =
      "With d = x − t: loss = d² / 2 where |d| ≤ δ, δ · (|d| − δ / 2) elsewhere; the mean over all values.\n\n"
      "Huber, Robust estimation of a location parameter, Annals of Mathematical Statistics 35, 1964. (PyTorch's "
      "SmoothL1Loss is this divided by δ; Sony NNC's HuberLoss is twice this.)";
  entry.inputs = {parts::valuesIn("Predictions, any shape."),
                  targetPort(PortType::values, "What they should be, in the input's shape.")};
  entry.outputs = {{.key = "output", .label = "Loss", .help = "One number."}};
  entry.fields = {{.key = "delta",
                   .label = "Delta",
                   .help = "Difference δ beyond which the loss is a straight line.",
                   .type = FieldType::real,
                   .defaultValue = 1.0,
                   .hard = Range{1e-6, 1e6},
                   .important = true},
                  lossWeightField()};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  needEqualTarget(arguments);
  return {Shape{}};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return finishLoss(arguments, arguments.builder.add("huber", {arguments.inputs[0], arguments.inputs[1]},
                                                     {{"delta", arguments.values.real("delta")}}));
}

}  // namespace huber_loss_layer

const LayerDefinition& defineHuberLossLayer() {
  using namespace huber_loss_layer;
  static const LayerDefinition definition{entry(), shapes, lower, LayerRole::loss};
  return definition;
}

}  // namespace loom
