#pragma once
// The losses that are a mean over all elements of f(x, target): mean_squared_error, huber, binary_cross_entropy.
#include "engine/ops/support.h"

namespace loom::ops {

// binary_cross_entropy takes a probability no nearer to 0 and 1 than this.
inline constexpr double kLeastProbability = 1e-7;

// Rank 0 from x and a target of the same shape.
inline std::vector<TensorSpec> inferElementwiseLoss(Specs inputs, const Attributes&) {
  needFloat("the prediction", inputs[0]);
  needFloat("the target", inputs[1]);
  needSameShape("the prediction", inputs[0], "the target", inputs[1]);
  return {f32({})};
}

inline std::vector<TensorSpec> inferElementwiseLossGradient(Specs inputs, const Attributes& attributes) {
  inferElementwiseLoss(inputs, attributes);
  needShape("the gradient of the loss", inputs[2], {});
  return {f32(inputs[0].shape)};
}

// value(x, target): the loss of one element.
template <class Value>
void meanLoss(References inputs, Outputs outputs, const Value& value) {
  const std::size_t count = inputs[0]->values.size();
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += value(inputs[0]->values[i], inputs[1]->values[i]);
  outputs[0].values[0] = sum / static_cast<double>(count);
}

// derivative(x, target): of one element with respect to x.
template <class Derivative>
void meanLossGradient(References inputs, Outputs outputs, const Derivative& derivative) {
  const std::size_t count = inputs[0]->values.size();
  const double scale = inputs[2]->values[0] / static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i)
    outputs[0].values[i] = scale * derivative(inputs[0]->values[i], inputs[1]->values[i]);
}

// For losses of x - target alone: the target's gradient is the negative of x's.
inline Gradients differenceLossGradient(ProgramBuilder& builder, const GradientArguments& arguments,
                                        const char* gradientOp) {
  const TensorId dx = builder.add(gradientOp, {arguments.inputs[0], arguments.inputs[1], arguments.outputGradients[0]},
                                  arguments.attributes);
  if (!arguments.wanted[1]) return {dx, kNoTensor};
  return {dx, builder.add("unary", {dx}, {{"function", "negative"}})};
}

}  // namespace loom::ops
