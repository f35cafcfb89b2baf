// top_k_accuracy: the share of rows whose label is among the `k` largest logits (of equals the smaller index comes
// first). binary_accuracy: the share of elements where p >= threshold (0.5 when absent) says the same as target >= 0.5.
// A logit that is no number is never right.
#include <cmath>

#include "engine/ops/classification.h"

namespace loom {
namespace accuracy_op {

std::vector<TensorSpec> inferTopK(ops::Specs inputs, const Attributes& attributes) {
  ops::needLabels(inputs[0], inputs[1]);
  const std::int64_t k = attributes.integer("k", 1), classes = inputs[0].shape[-1];
  if (k < 1 || k > classes)
    throwError(ErrorCode::badProject, "top-{} accuracy among {} classes: 1 to {} are possible", k, classes, classes);
  return {ops::f32({})};
}

void referenceTopK(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const std::int64_t k = attributes.integer("k", 1), classes = inputs[0]->shape[-1],
                     rows = inputs[0]->shape.elements() / classes;
  double right = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    const double* logits = inputs[0]->values.data() + r * classes;
    const std::int64_t label = ops::labelAt(*inputs[1], r, classes);
    std::int64_t before = 0;
    for (std::int64_t j = 0; j < classes; ++j)
      before += std::isnan(logits[j]) || logits[j] > logits[label] || (logits[j] == logits[label] && j < label);
    right += before < k && !std::isnan(logits[label]);
  }
  outputs[0].values[0] = right / static_cast<double>(rows);
}

std::vector<TensorSpec> inferBinary(ops::Specs inputs, const Attributes&) {
  ops::needFloat("the prediction", inputs[0]);
  ops::needSameShape("the prediction", inputs[0], "the target", inputs[1]);
  return {ops::f32({})};
}

void referenceBinary(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const double threshold = attributes.real("threshold", 0.5);
  const std::vector<double>&p = inputs[0]->values, &target = inputs[1]->values;
  double right = 0;
  for (std::size_t i = 0; i < p.size(); ++i) right += !std::isnan(p[i]) && (p[i] >= threshold) == (target[i] >= 0.5);
  outputs[0].values[0] = right / static_cast<double>(p.size());
}

}  // namespace accuracy_op

const OpDefinition& defineTopKAccuracyOp() {
  using namespace accuracy_op;
  static const OpDefinition op{.name = "top_k_accuracy",
                               .infer = inferTopK,
                               .reference = referenceTopK,
                               .signature = "logits, labels -> share",
                               .flat = true};
  return op;
}

const OpDefinition& defineBinaryAccuracyOp() {
  using namespace accuracy_op;
  static const OpDefinition op{.name = "binary_accuracy",
                               .infer = inferBinary,
                               .reference = referenceBinary,
                               .signature = "p, target -> share",
                               .flat = true};
  return op;
}

}  // namespace loom
