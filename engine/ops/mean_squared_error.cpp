// mean_squared_error: loss = mean((x - target)^2) over all elements.
#include "engine/ops/elementwise_loss.h"

namespace loom {
namespace mean_squared_error_op {

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  return ops::differenceLossGradient(builder, arguments, "mean_squared_error_gradient");
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes&) {
  ops::meanLoss(inputs, outputs, [](double x, double target) { return (x - target) * (x - target); });
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes&) {
  ops::meanLossGradient(inputs, outputs, [](double x, double target) { return 2 * (x - target); });
}

}  // namespace mean_squared_error_op

const OpDefinition& defineMeanSquaredErrorOp() {
  using namespace mean_squared_error_op;
  static const OpDefinition op{.name = "mean_squared_error",
                               .infer = ops::inferElementwiseLoss,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "x, target -> loss"};
  return op;
}

const OpDefinition& defineMeanSquaredErrorGradientOp() {
  using namespace mean_squared_error_op;
  static const OpDefinition op{.name = "mean_squared_error_gradient",
                               .infer = ops::inferElementwiseLossGradient,
                               .reference = referenceGradient,
                               .signature = "x, target, s -> dx",
                               .reusable = {0, 1}};
  return op;
}

}  // namespace loom
