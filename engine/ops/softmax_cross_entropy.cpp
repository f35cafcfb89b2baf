// softmax_cross_entropy: loss = mean over rows of -sum_j q_j log p_j, p = softmax(logits), q = the smoothed one-hot
// label.
//   "pytorch" (Szegedy et al., 2016): q = (1 - e) onehot + e / K
//   "sony" (Tanaka et al.):           q_label = 1 - e, the others e / (K - 1); equals "pytorch" with e K / (K - 1)
// Gradient: dlogits = s (p - q) / rows.
#include <cmath>

#include "engine/ops/classification.h"

namespace loom {
namespace softmax_cross_entropy_op {

void check(ops::Specs inputs, const Attributes& attributes) {
  ops::needLabels(inputs[0], inputs[1]);
  const double smoothing = attributes.real("smoothing", 0.0);
  if (!(smoothing >= 0 && smoothing < 1))
    throwError(ErrorCode::badProject, "the label smoothing is {}, but must be at least 0 and less than 1", smoothing);
  if (attributes.has("definition") && attributes.text("definition") != "pytorch" &&
      attributes.text("definition") != "sony")
    throwError(ErrorCode::badProject, "label smoothing is defined by 'pytorch' or by 'sony', not by '{}'",
               attributes.text("definition"));
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  check(inputs, attributes);
  return {ops::f32({})};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const TensorId dlogits =
      builder.add("softmax_cross_entropy_gradient",
                  {arguments.inputs[0], arguments.inputs[1], arguments.outputGradients[0]}, arguments.attributes);
  return {dlogits, kNoTensor};
}

double logSumExp(const double* row, std::int64_t classes) {
  const double highest = *std::max_element(row, row + classes);
  double sum = 0;
  for (std::int64_t j = 0; j < classes; ++j) sum += std::exp(row[j] - highest);
  return highest + std::log(sum);
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const std::int64_t classes = inputs[0]->shape[-1], rows = inputs[0]->shape.elements() / classes;
  const ops::Smoothing smoothing = ops::smoothingOf(attributes, classes);
  double sum = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* logits = inputs[0]->values.data() + r * classes;
    const std::int64_t label = ops::labelAt(*inputs[1], r, classes);
    const double logSum = logSumExp(logits, classes);
    for (std::int64_t j = 0; j < classes; ++j) {
      const double q = j == label ? smoothing.label : smoothing.other;
      if (q != 0) sum -= q * (logits[j] - logSum);
    }
  }
  outputs[0].values[0] = sum / static_cast<double>(rows);
}

std::vector<TensorSpec> inferGradient(ops::Specs inputs, const Attributes& attributes) {
  check(inputs, attributes);
  ops::needShape("the gradient of the loss", inputs[2], {});
  return {ops::f32(inputs[0].shape)};
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const std::int64_t classes = inputs[0]->shape[-1], rows = inputs[0]->shape.elements() / classes;
  const ops::Smoothing smoothing = ops::smoothingOf(attributes, classes);
  const double scale = inputs[2]->values[0] / static_cast<double>(rows);
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* logits = inputs[0]->values.data() + r * classes;
    const std::int64_t label = ops::labelAt(*inputs[1], r, classes);
    const double logSum = logSumExp(logits, classes);
    for (std::int64_t j = 0; j < classes; ++j)
      outputs[0].values[static_cast<std::size_t>(r * classes + j)] =
          scale * (std::exp(logits[j] - logSum) - (j == label ? smoothing.label : smoothing.other));
  }
}

}  // namespace softmax_cross_entropy_op

const OpDefinition& defineSoftmaxCrossEntropyOp() {
  using namespace softmax_cross_entropy_op;
  static const OpDefinition op{.name = "softmax_cross_entropy",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "logits, labels -> loss"};
  return op;
}

const OpDefinition& defineSoftmaxCrossEntropyGradientOp() {
  using namespace softmax_cross_entropy_op;
  static const OpDefinition op{.name = "softmax_cross_entropy_gradient",
                               .infer = inferGradient,
                               .reference = referenceGradient,
                               .signature = "logits, labels, s -> dlogits"};
  return op;
}

}  // namespace loom
