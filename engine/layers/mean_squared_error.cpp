#include "engine/layers/entry_parts.h"
#include "engine/layers/loss_parts.h"

namespace loom {
namespace mean_squared_error_layer {

Entry entry() {
  Entry entry;
  entry.id = entry.label = "MeanSquaredError";
  entry.category = entry.icon = "lossMetric";
  entry.aliases = {"MSE", "MSELoss", "SquaredError", "L2Loss"};
  entry.summary = "The loss of a regression: the mean of the squared differences.";
  entry.help =
      "loss = mean over all values of (x − t)². Its best constant answer is the mean of the targets; far outliers "
      "weigh much, HuberLoss less.\n\n"
      "(Sony NNC's SquaredError is the same without the mean.)";
  entry.inputs = {parts::valuesIn("Predictions, any shape."),
                  targetPort(PortType::values, "What they should be, in the input's shape.")};
  entry.outputs = {{.key = "output", .label = "Loss", .help = "One number."}};
  entry.fields = {lossWeightField()};
  return entry;
}

std::vector<Shape> shapes(const ShapeArguments& arguments) {
  needEqualTarget(arguments);
  return {Shape{}};
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  return finishLoss(arguments, arguments.builder.add("mean_squared_error", {arguments.inputs[0], arguments.inputs[1]}));
}

}  // namespace mean_squared_error_layer

const LayerDefinition& defineMeanSquaredErrorLayer() {
  using namespace mean_squared_error_layer;
  static const LayerDefinition definition{entry(), shapes, lower, LayerRole::loss};
  return definition;
}

}  // namespace loom
