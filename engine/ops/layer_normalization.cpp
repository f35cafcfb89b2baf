// layer_normalization (Ba et al., 2016) over the last `axes` axes (1 when absent), together of D elements, for each row
// before:
//   m = mean(x), r = 1 / sqrt(mean((x - m)^2) + epsilon), h = (x - m) r, y = gamma h + beta
// Gradient: with g = gamma dy, dx = r (g - mean(g) - h mean(g h)), dgamma = sum over rows of dy h, dbeta = sum of dy.
#include <cmath>

#include "engine/ops/normalisation.h"
#include "engine/ops/support.h"

namespace loom {
namespace layer_normalization_op {

struct Split {
  Shape leading, trailing;
};

Split splitOf(const Shape& x, const Attributes& attributes) {
  const std::int64_t axes = attributes.integer("axes", 1), rank = static_cast<std::int64_t>(x.rank());
  if (axes < 1 || axes > rank)
    throwError(ErrorCode::badProject,
               "a layer normalization over the last {} axes of {}, which has {}: 1 to {} are possible", axes,
               x.toString(), rank, rank);
  const auto cut = x.begin() + (rank - axes);
  return {Shape(std::vector<std::int64_t>(x.begin(), cut)), Shape(std::vector<std::int64_t>(cut, x.end()))};
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("the input", inputs[0]);
  const Split split = splitOf(inputs[0].shape, attributes);
  for (std::size_t i : {1u, 2u})
    if (inputs[i].present) ops::needShape(i == 1 ? "gamma" : "beta", inputs[i], split.trailing);
  return {ops::f32(inputs[0].shape), ops::f32(split.leading), ops::f32(split.leading)};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const auto gradients = builder.emit("layer_normalization_gradient",
                                      {arguments.inputs[0], arguments.outputGradients[0], arguments.inputs[1],
                                       arguments.outputs[1], arguments.outputs[2]},
                                      {{"axes", arguments.attributes.integer("axes", 1)}});
  return {gradients[0], gradients[1], gradients[2]};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const Split split = splitOf(inputs[0]->shape, attributes);
  const std::int64_t rows = split.leading.elements(), length = split.trailing.elements();
  const double epsilon = attributes.real("epsilon", ops::kNormalisationEpsilon), count = static_cast<double>(length);
  for (std::int64_t row = 0; row < rows; ++row) {
    const double* x = inputs[0]->values.data() + row * length;
    double* y = outputs[0].values.data() + row * length;
    double mean = 0, variance = 0;
    for (std::int64_t j = 0; j < length; ++j) mean += x[j] / count;
    for (std::int64_t j = 0; j < length; ++j) variance += (x[j] - mean) * (x[j] - mean) / count;
    const double inverse = 1 / std::sqrt(variance + epsilon);
    for (std::int64_t j = 0; j < length; ++j) {
      const auto column = static_cast<std::size_t>(j);
      y[j] = (inputs[1] ? inputs[1]->values[column] : 1) * (x[j] - mean) * inverse +
             (inputs[2] ? inputs[2]->values[column] : 0);
    }
    outputs[1].values[static_cast<std::size_t>(row)] = mean;
    outputs[2].values[static_cast<std::size_t>(row)] = inverse;
  }
}

std::vector<TensorSpec> inferGradient(ops::Specs inputs, const Attributes& attributes) {
  const Split split = splitOf(inputs[0].shape, attributes);
  ops::needSameShape("x", inputs[0], "dy", inputs[1]);
  if (inputs[2].present) ops::needShape("gamma", inputs[2], split.trailing);
  ops::needShape("mean", inputs[3], split.leading);
  ops::needShape("inverse_deviation", inputs[4], split.leading);
  return {ops::f32(inputs[0].shape), ops::f32(split.trailing), ops::f32(split.trailing)};
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const Split split = splitOf(inputs[0]->shape, attributes);
  const std::int64_t rows = split.leading.elements(), length = split.trailing.elements();
  const double count = static_cast<double>(length);
  for (std::int64_t row = 0; row < rows; ++row) {
    const double *x = inputs[0]->values.data() + row * length, *dy = inputs[1]->values.data() + row * length;
    const double mean = inputs[3]->values[static_cast<std::size_t>(row)],
                 inverse = inputs[4]->values[static_cast<std::size_t>(row)];
    const auto gamma = [&](std::int64_t j) { return inputs[2] ? inputs[2]->values[static_cast<std::size_t>(j)] : 1.0; };
    double meanG = 0, meanGH = 0;
    for (std::int64_t j = 0; j < length; ++j) {
      const double g = gamma(j) * dy[j], h = (x[j] - mean) * inverse;
      meanG += g / count;
      meanGH += g * h / count;
      outputs[1].values[static_cast<std::size_t>(j)] += dy[j] * h;
      outputs[2].values[static_cast<std::size_t>(j)] += dy[j];
    }
    for (std::int64_t j = 0; j < length; ++j)
      outputs[0].values[static_cast<std::size_t>(row * length + j)] =
          inverse * (gamma(j) * dy[j] - meanG - (x[j] - mean) * inverse * meanGH);
  }
}

}  // namespace layer_normalization_op

const OpDefinition& defineLayerNormalizationOp() {
  using namespace layer_normalization_op;
  static const OpDefinition op{.name = "layer_normalization",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "x, gamma?, beta? -> y, mean, inverse_deviation"};
  return op;
}

const OpDefinition& defineLayerNormalizationGradientOp() {
  using namespace layer_normalization_op;
  static const OpDefinition op{.name = "layer_normalization_gradient",
                               .infer = inferGradient,
                               .reference = referenceGradient,
                               .signature = "x, dy, gamma?, mean, inverse_deviation -> dx, dgamma, dbeta"};
  return op;
}

}  // namespace loom
