// binary_cross_entropy: mean over all elements of -(t log p + (1 - t) log(1 - p)), p clamped to [1e-7, 1 - 1e-7] (where
// it is clamped, nothing flows). `from_logits`: p = sigmoid(x), computed as max(x, 0) - x t + log(1 + exp(-|x|)).
#include <cmath>

#include "engine/ops/elementwise_loss.h"

namespace loom {
namespace binary_cross_entropy_op {

bool fromLogits(const Attributes& attributes) {
  return attributes.boolean("from_logits", false);
}

TensorId unary(ProgramBuilder& builder, const char* function, TensorId x) {
  return builder.add("unary", {x}, {{"function", std::string(function)}});
}

// max(x, ops::kLeastProbability), then its logarithm.
TensorId clampedLog(ProgramBuilder& builder, TensorId x) {
  const Shape ones(std::vector<std::int64_t>(builder.shape(x).rank(), 1));
  return unary(builder, "log", ops::binary(builder, "maximum", x, builder.constant(ops::kLeastProbability, ones)));
}

// d loss / d target = s (log(1 - p) - log p) / n, or -s x / n for logits: rarely wanted, so it has no op of its own.
TensorId gradientOfTarget(ProgramBuilder& builder, const GradientArguments& arguments) {
  const TensorId p = arguments.inputs[0];
  const double count = static_cast<double>(builder.shape(p).elements());
  TensorId logit = p;
  if (!fromLogits(arguments.attributes)) {
    const TensorId complement = builder.add("scale", {p}, {{"factor", -1.0}, {"offset", 1.0}});
    logit = ops::binary(builder, "subtract", clampedLog(builder, p), clampedLog(builder, complement));
  }
  const TensorId each = builder.add("scale", {logit}, {{"factor", -1.0 / count}, {"offset", 0.0}});
  return builder.add("scale_by", {each, arguments.outputGradients[0]});
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  ops::Gradients gradients(2, kNoTensor);
  if (arguments.wanted[0])
    gradients[0] =
        builder.add("binary_cross_entropy_gradient",
                    {arguments.inputs[0], arguments.inputs[1], arguments.outputGradients[0]}, arguments.attributes);
  if (arguments.wanted[1]) gradients[1] = gradientOfTarget(builder, arguments);
  return gradients;
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const bool logits = fromLogits(attributes);
  ops::meanLoss(inputs, outputs, [&](double x, double t) {
    if (logits) return (x > 0 ? x : 0) - x * t + std::log1p(std::exp(-std::abs(x)));
    const double p = std::clamp(x, ops::kLeastProbability, 1 - ops::kLeastProbability);
    return -(t * std::log(p) + (1 - t) * std::log1p(-p));
  });
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const bool logits = fromLogits(attributes);
  ops::meanLossGradient(inputs, outputs, [&](double x, double t) {
    if (logits) return 1 / (1 + std::exp(-x)) - t;
    if (x < ops::kLeastProbability || x > 1 - ops::kLeastProbability) return 0.0;
    return (x - t) / (x * (1 - x));
  });
}

}  // namespace binary_cross_entropy_op

const OpDefinition& defineBinaryCrossEntropyOp() {
  using namespace binary_cross_entropy_op;
  static const OpDefinition op{.name = "binary_cross_entropy",
                               .infer = ops::inferElementwiseLoss,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "p, target -> loss"};
  return op;
}

const OpDefinition& defineBinaryCrossEntropyGradientOp() {
  using namespace binary_cross_entropy_op;
  static const OpDefinition op{.name = "binary_cross_entropy_gradient",
                               .infer = ops::inferElementwiseLossGradient,
                               .reference = referenceGradient,
                               .signature = "p, target, s -> dp",
                               .reusable = {0, 1}};
  return op;
}

}  // namespace loom
