// batch_normalization (Ioffe and Szegedy, 2015), per channel c of `axis` (1 when absent), over the n other elements:
//   m = mean(x), v = mean((x - m)^2), r = 1 / sqrt(v + epsilon), y = gamma (x - m) r + beta
//   running mean     <- momentum old + (1 - momentum) m
//   running variance <- momentum old + (1 - momentum) v n / (n - 1)      (v itself where n is 1)
// Gradient: with h = (x - m) r, dgamma = sum(dy h), dbeta = sum(dy), dx = gamma r (dy - dbeta / n - h dgamma / n).
// Inference: y = gamma (x - mean) / sqrt(variance + epsilon) + beta with the running values.
// Again: y = gamma (x - m) r + beta with the m and r that were taken before, for a y that was not kept.
#include <cmath>

#include "engine/ops/normalisation.h"
#include "engine/ops/support.h"

namespace loom {
namespace batch_normalization_op {

// Calls visit(index) for every element of channel c.
template <class Visit>
void forEachOf(const ops::AxisView& view, std::int64_t channel, const Visit& visit) {
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t i = 0; i < view.inner; ++i)
      visit(static_cast<std::size_t>((o * view.length + channel) * view.inner + i));
}

double valueOr(const ReferenceTensor* tensor, std::int64_t index, double otherwise) {
  return tensor ? tensor->values[static_cast<std::size_t>(index)] : otherwise;
}

// Checks the vectors (all inputs from `first` on) and answers their shape.
Shape needVectors(ops::Specs inputs, std::size_t first, const Attributes& attributes) {
  ops::needFloat("the input", inputs[0]);
  ops::needRank("the input", inputs[0], 2, 8);
  const Shape channels{inputs[0].shape[ops::axisOf(inputs[0].shape, attributes, 1)]};
  for (std::size_t i = first; i < inputs.size(); ++i)
    if (inputs[i].present)
      ops::needShape("each vector of a batch normalization of " + inputs[0].shape.toString(), inputs[i], channels);
  return channels;
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  const Shape channels = needVectors(inputs, 1, attributes);
  return {ops::f32(inputs[0].shape), ops::f32(channels), ops::f32(channels)};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  Attributes attributes;
  attributes.set("axis", arguments.attributes.integer("axis", 1));
  const auto gradients = builder.emit("batch_normalization_gradient",
                                      {arguments.inputs[0], arguments.outputGradients[0], arguments.inputs[1],
                                       arguments.outputs[1], arguments.outputs[2]},
                                      attributes);
  return {gradients[0], gradients[1], gradients[2], kNoTensor, kNoTensor};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const ops::AxisView view = ops::viewAlong(inputs[0]->shape, ops::axisOf(inputs[0]->shape, attributes, 1));
  const double epsilon = attributes.real("epsilon", ops::kNormalisationEpsilon),
               momentum = attributes.real("momentum", ops::kStatisticsMomentum);
  const double n = static_cast<double>(view.outer * view.inner);
  const std::vector<double>& x = inputs[0]->values;
  for (std::int64_t c = 0; c < view.length; ++c) {
    double mean = 0, variance = 0;
    forEachOf(view, c, [&](std::size_t i) { mean += x[i] / n; });
    forEachOf(view, c, [&](std::size_t i) { variance += (x[i] - mean) * (x[i] - mean) / n; });
    const double inverse = 1 / std::sqrt(variance + epsilon);
    const double gamma = valueOr(inputs[1], c, 1), beta = valueOr(inputs[2], c, 0);
    forEachOf(view, c, [&](std::size_t i) { outputs[0].values[i] = gamma * (x[i] - mean) * inverse + beta; });
    const auto channel = static_cast<std::size_t>(c);
    outputs[1].values[channel] = mean;
    outputs[2].values[channel] = inverse;
    double &runningMean = outputs[3].values[channel], &runningVariance = outputs[4].values[channel];
    runningMean = momentum * runningMean + (1 - momentum) * mean;
    runningVariance = momentum * runningVariance + (1 - momentum) * variance * (n > 1 ? n / (n - 1) : 1);
  }
}

std::vector<TensorSpec> inferGradient(ops::Specs inputs, const Attributes& attributes) {
  const Shape channels = needVectors(inputs, 2, attributes);
  ops::needSameShape("x", inputs[0], "dy", inputs[1]);
  return {ops::f32(inputs[0].shape), ops::f32(channels), ops::f32(channels)};
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const ops::AxisView view = ops::viewAlong(inputs[0]->shape, ops::axisOf(inputs[0]->shape, attributes, 1));
  const double n = static_cast<double>(view.outer * view.inner);
  const std::vector<double>&x = inputs[0]->values, &dy = inputs[1]->values;
  for (std::int64_t c = 0; c < view.length; ++c) {
    const auto channel = static_cast<std::size_t>(c);
    const double mean = inputs[3]->values[channel], inverse = inputs[4]->values[channel],
                 gamma = valueOr(inputs[2], c, 1);
    double dgamma = 0, dbeta = 0;
    forEachOf(view, c, [&](std::size_t i) {
      dgamma += dy[i] * (x[i] - mean) * inverse;
      dbeta += dy[i];
    });
    forEachOf(view, c, [&](std::size_t i) {
      outputs[0].values[i] = gamma * inverse * (dy[i] - dbeta / n - (x[i] - mean) * inverse * dgamma / n);
    });
    outputs[1].values[channel] = dgamma;
    outputs[2].values[channel] = dbeta;
  }
}

std::vector<TensorSpec> inferInference(ops::Specs inputs, const Attributes& attributes) {
  needVectors(inputs, 1, attributes);
  return {ops::f32(inputs[0].shape)};
}

// For training with frozen statistics: the layer is an affine map of each channel, so its gradient needs no op of its
// own.
ops::Gradients gradientOfInference(ProgramBuilder& builder, const GradientArguments& arguments) {
  const TensorId x = arguments.inputs[0], gamma = arguments.inputs[1], mean = arguments.inputs[3],
                 dy = arguments.outputGradients[0];
  const Shape shape = builder.shape(x);
  const std::int64_t axis = ops::axisOf(shape, arguments.attributes, 1);
  const auto spread = [&](TensorId vector) { return ops::alongAxis(builder, vector, shape, axis); };

  ops::Gradients gradients(5, kNoTensor);
  if (arguments.wanted[0] || arguments.wanted[1]) {
    const TensorId variance =
        builder.add("scale", {arguments.inputs[4]},
                    {{"factor", 1.0}, {"offset", arguments.attributes.real("epsilon", ops::kNormalisationEpsilon)}});
    const TensorId deviation = spread(builder.add("unary", {variance}, {{"function", "sqrt"}}));
    const TensorId scaled = ops::binary(builder, "divide", dy, deviation);
    if (arguments.wanted[0])
      gradients[0] = gamma == kNoTensor ? scaled : ops::binary(builder, "multiply", scaled, spread(gamma));
    if (arguments.wanted[1]) {
      const TensorId centred = ops::binary(builder, "subtract", x, spread(mean));
      gradients[1] =
          builder.add("bias_gradient", {ops::binary(builder, "multiply", scaled, centred)}, {{"axis", axis}});
    }
  }
  if (arguments.wanted[2]) gradients[2] = builder.add("bias_gradient", {dy}, {{"axis", axis}});
  return gradients;
}

void referenceInference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const ops::AxisView view = ops::viewAlong(inputs[0]->shape, ops::axisOf(inputs[0]->shape, attributes, 1));
  const double epsilon = attributes.real("epsilon", ops::kNormalisationEpsilon);
  for (std::int64_t c = 0; c < view.length; ++c) {
    const double mean = inputs[3]->values[static_cast<std::size_t>(c)],
                 variance = inputs[4]->values[static_cast<std::size_t>(c)];
    const double gamma = valueOr(inputs[1], c, 1), beta = valueOr(inputs[2], c, 0);
    forEachOf(view, c, [&](std::size_t i) {
      outputs[0].values[i] = gamma * (inputs[0]->values[i] - mean) / std::sqrt(variance + epsilon) + beta;
    });
  }
}

// An affine map of each channel again, of which the statistics are inputs like any other.
ops::Gradients gradientOfAgain(ProgramBuilder& builder, const GradientArguments& arguments) {
  const TensorId x = arguments.inputs[0], gamma = arguments.inputs[1], dy = arguments.outputGradients[0];
  const Shape shape = builder.shape(x);
  const std::int64_t axis = ops::axisOf(shape, arguments.attributes, 1);
  const auto spread = [&](TensorId vector) { return ops::alongAxis(builder, vector, shape, axis); };
  const auto sumOf = [&](TensorId values) { return builder.add("bias_gradient", {values}, {{"axis", axis}}); };
  const auto product = [&](TensorId a, TensorId b) { return ops::binary(builder, "multiply", a, b); };
  const TensorId inverse = spread(arguments.inputs[4]);
  const TensorId centred = ops::binary(builder, "subtract", x, spread(arguments.inputs[3]));
  const TensorId scaled = gamma == kNoTensor ? dy : product(dy, spread(gamma));
  ops::Gradients gradients(5, kNoTensor);
  gradients[0] = product(scaled, inverse);
  if (arguments.wanted[1]) gradients[1] = sumOf(product(product(dy, inverse), centred));
  if (arguments.wanted[2]) gradients[2] = sumOf(dy);
  if (arguments.wanted[3]) gradients[3] = builder.add("unary", {sumOf(gradients[0])}, {{"function", "negative"}});
  if (arguments.wanted[4]) gradients[4] = sumOf(product(scaled, centred));
  return gradients;
}

void referenceAgain(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const ops::AxisView view = ops::viewAlong(inputs[0]->shape, ops::axisOf(inputs[0]->shape, attributes, 1));
  for (std::int64_t c = 0; c < view.length; ++c) {
    const double mean = inputs[3]->values[static_cast<std::size_t>(c)],
                 inverse = inputs[4]->values[static_cast<std::size_t>(c)];
    const double gamma = valueOr(inputs[1], c, 1), beta = valueOr(inputs[2], c, 0);
    forEachOf(view, c,
              [&](std::size_t i) { outputs[0].values[i] = gamma * (inputs[0]->values[i] - mean) * inverse + beta; });
  }
}

}  // namespace batch_normalization_op

const OpDefinition& defineBatchNormalizationOp() {
  using namespace batch_normalization_op;
  static const OpDefinition op{
      .name = "batch_normalization",
      .infer = infer,
      .gradient = gradient,
      .reference = reference,
      .signature = "x, gamma?, beta?, mean, variance -> y, batch_mean, batch_inverse_deviation",
      .updates = {3, 4},
      .again = "batch_normalization_again",
      .batchStatistics = true};
  return op;
}

const OpDefinition& defineBatchNormalizationGradientOp() {
  using namespace batch_normalization_op;
  static const OpDefinition op{.name = "batch_normalization_gradient",
                               .infer = inferGradient,
                               .reference = referenceGradient,
                               .signature = "x, dy, gamma?, batch_mean, batch_inverse_deviation -> dx, dgamma, dbeta",
                               .batchStatistics = true};
  return op;
}

const OpDefinition& defineBatchNormalizationInferenceOp() {
  using namespace batch_normalization_op;
  static const OpDefinition op{.name = "batch_normalization_inference",
                               .infer = inferInference,
                               .gradient = gradientOfInference,
                               .reference = referenceInference,
                               .signature = "x, gamma?, beta?, mean, variance -> y",
                               .reusable = {0}};
  return op;
}

const OpDefinition& defineBatchNormalizationAgainOp() {
  using namespace batch_normalization_op;
  static const OpDefinition op{.name = "batch_normalization_again",
                               .infer = inferInference,
                               .gradient = gradientOfAgain,
                               .reference = referenceAgain,
                               .signature = "x, gamma?, beta?, batch_mean, batch_inverse_deviation -> y",
                               .reusable = {0}};
  return op;
}

}  // namespace loom
