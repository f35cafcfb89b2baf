// huber (Huber, 1964): with e = x - target, e^2 / 2 where |e| <= delta, else delta (|e| - delta / 2); mean over all
// elements.
#include <cmath>

#include "engine/ops/elementwise_loss.h"

namespace loom {
namespace huber_op {

double deltaOf(const Attributes& attributes) {
  return attributes.real("delta", 1.0);
}

void needPositiveDelta(const Attributes& attributes) {
  if (!(deltaOf(attributes) > 0))
    throwError(ErrorCode::badProject, "delta is {}, but must be greater than 0", deltaOf(attributes));
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  needPositiveDelta(attributes);
  return ops::inferElementwiseLoss(inputs, attributes);
}

std::vector<TensorSpec> inferGradient(ops::Specs inputs, const Attributes& attributes) {
  needPositiveDelta(attributes);
  return ops::inferElementwiseLossGradient(inputs, attributes);
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  return ops::differenceLossGradient(builder, arguments, "huber_gradient");
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const double delta = deltaOf(attributes);
  ops::meanLoss(inputs, outputs, [&](double x, double target) {
    const double e = std::abs(x - target);
    return e <= delta ? 0.5 * e * e : delta * (e - 0.5 * delta);
  });
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const double delta = deltaOf(attributes);
  ops::meanLossGradient(inputs, outputs, [&](double x, double target) {
    const double e = x - target;
    return e > delta ? delta : (e < -delta ? -delta : e);
  });
}

}  // namespace huber_op

const OpDefinition& defineHuberOp() {
  using namespace huber_op;
  static const OpDefinition op{
      .name = "huber", .infer = infer, .gradient = gradient, .reference = reference, .signature = "x, target -> loss"};
  return op;
}

const OpDefinition& defineHuberGradientOp() {
  using namespace huber_op;
  static const OpDefinition op{.name = "huber_gradient",
                               .infer = inferGradient,
                               .reference = referenceGradient,
                               .signature = "x, target, s -> dx",
                               .reusable = {0, 1}};
  return op;
}

}  // namespace loom
