#include <cmath>

#include "engine/layers/entry_parts.h"
#include "engine/layers/loss_parts.h"
#include "engine/metrics/sums.h"

namespace loom {
namespace root_mean_squared_error_metric {

double root(double mean) {
  return std::sqrt(mean);
}

Entry entry() {
  Entry entry;
  entry.id = entry.label = "RootMeanSquaredError";
  entry.category = entry.icon = "lossMetric";
  entry.aliases = {"RMSE"};
  entry.summary = "How far predictions of numbers are off, in the unit of the target.";
  entry.help =
      "The root of the mean over all values of (x − t)². The mean is that of the whole dataset, and its root is taken "
      "once: a mean of the batches' roots would be less. Of a target that was scaled it is in that scale. Nothing "
      "flows back from it.";
  entry.inputs = {parts::valuesIn("Predictions, any shape."),
                  targetPort(PortType::values, "What they should be, in the input's shape.")};
  entry.outputs = {{.key = "output", .label = "Error", .help = "One number."}};
  return entry;
}

std::vector<TensorId> lower(const LowerArguments& arguments) {
  const auto values = static_cast<double>(arguments.builder.shape(arguments.inputs[0]).elements());
  return finishMean(arguments, arguments.builder.add("mean_squared_error", {arguments.inputs[0], arguments.inputs[1]}),
                    values, kOfMean<root>);
}

}  // namespace root_mean_squared_error_metric

const LayerDefinition& defineRootMeanSquaredErrorLayer() {
  using namespace root_mean_squared_error_metric;
  static const LayerDefinition definition{entry(), equalTargetShapes, lower, LayerRole::metric};
  return definition;
}

}  // namespace loom
