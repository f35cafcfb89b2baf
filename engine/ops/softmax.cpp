// softmax along `axis` (-1 when absent): y = exp(x) / sum exp(x); softmax_gradient: dx = y (dy - sum(y dy)).
#include <cmath>

#include "engine/ops/support.h"

namespace loom {
namespace softmax_op {

// Calls row(start, step, length) for every line along the axis: its elements stand at start + j * step.
template <class Row>
void forEachRow(const Shape& shape, const Attributes& attributes, const Row& row) {
  const ops::AxisView view = ops::viewAlong(shape, ops::axisOf(shape, attributes, -1));
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t i = 0; i < view.inner; ++i) row(o * view.length * view.inner + i, view.inner, view.length);
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::axisOf(inputs[0].shape, attributes, -1);
  return ops::likeFirst(inputs, attributes);
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  return {builder.add("softmax_gradient", {arguments.outputs[0], arguments.outputGradients[0]}, arguments.attributes)};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const double* x = inputs[0]->values.data();
  double* y = outputs[0].values.data();
  forEachRow(inputs[0]->shape, attributes, [&](std::int64_t start, std::int64_t step, std::int64_t length) {
    double highest = -HUGE_VAL, sum = 0;
    for (std::int64_t j = 0; j < length; ++j) highest = std::max(highest, x[start + j * step]);
    for (std::int64_t j = 0; j < length; ++j) sum += y[start + j * step] = std::exp(x[start + j * step] - highest);
    for (std::int64_t j = 0; j < length; ++j) y[start + j * step] /= sum;
  });
}

std::vector<TensorSpec> inferGradient(ops::Specs inputs, const Attributes& attributes) {
  ops::needSameShape("y", inputs[0], "dy", inputs[1]);
  return infer(inputs, attributes);
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const double *y = inputs[0]->values.data(), *dy = inputs[1]->values.data();
  forEachRow(inputs[0]->shape, attributes, [&](std::int64_t start, std::int64_t step, std::int64_t length) {
    double sum = 0;
    for (std::int64_t j = 0; j < length; ++j) sum += y[start + j * step] * dy[start + j * step];
    for (std::int64_t j = 0; j < length; ++j)
      outputs[0].values[static_cast<std::size_t>(start + j * step)] =
          y[start + j * step] * (dy[start + j * step] - sum);
  });
}

}  // namespace softmax_op

const OpDefinition& defineSoftmaxOp() {
  using namespace softmax_op;
  static const OpDefinition op{
      .name = "softmax", .infer = infer, .gradient = gradient, .reference = reference, .signature = "x -> y"};
  return op;
}

const OpDefinition& defineSoftmaxGradientOp() {
  using namespace softmax_op;
  static const OpDefinition op{
      .name = "softmax_gradient", .infer = inferGradient, .reference = referenceGradient, .signature = "y, dy -> dx"};
  return op;
}

}  // namespace loom
