// running_mean: the mean of all batches' means so far. With s = 1 / (count + 1):
//   y = mean + (batch_mean - mean) s,   mean <- y,   count <- count + 1
// Gradient: batch_mean gets s dy; what earlier batches left does not learn.
#include "engine/ops/support.h"

namespace loom {
namespace running_mean_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes&) {
  ops::needFloat("the batch's mean", inputs[0]);
  ops::needFloat("the running mean", inputs[1]);
  ops::needSameShape("the running mean", inputs[1], "the batch's mean", inputs[0]);
  ops::needShape("the count of batches", inputs[2], {1});
  return {ops::f32(inputs[0].shape), ops::f32({})};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const TensorId dy = arguments.outputGradients[0];
  ops::Gradients gradients(3, kNoTensor);
  if (arguments.wanted[0] && dy != kNoTensor) gradients[0] = builder.add("scale_by", {dy, arguments.outputs[1]});
  return gradients;
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes&) {
  const double share = 1 / (inputs[2]->values[0] + 1);
  for (std::size_t i = 0; i < outputs[0].values.size(); ++i)
    outputs[0].values[i] = outputs[2].values[i] =
        inputs[1]->values[i] + (inputs[0]->values[i] - inputs[1]->values[i]) * share;
  outputs[1].values[0] = share;
  outputs[3].values[0] = inputs[2]->values[0] + 1;
}

}  // namespace running_mean_op

const OpDefinition& defineRunningMeanOp() {
  using namespace running_mean_op;
  static const OpDefinition op{.name = "running_mean",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "batch_mean, mean, count -> y, share",
                               .updates = {1, 2}};
  return op;
}

}  // namespace loom
