// max_pooling: y = the largest x of each window, the first of equals; padding never wins. The gradient goes to that
// element.
#include <cmath>

#include "engine/ops/pooling_geometry.h"
#include "engine/ops/support.h"

namespace loom {
namespace max_pooling_op {

// A NaN wins: it is not hidden.
bool beats(double challenger, double best) {
  return challenger > best || (std::isnan(challenger) && !std::isnan(best));
}

// Calls found(index in y, index in x of its maximum).
template <class Found>
void forEachMaximum(const ReferenceTensor& x, const Attributes& attributes, const Found& found) {
  std::int64_t best = -1;
  forEachWindow(
      poolingGeometry(x.shape, attributes), [&](std::int64_t) { best = -1; },
      [&](std::int64_t i) {
        if (best < 0 || beats(x.values[static_cast<std::size_t>(i)], x.values[static_cast<std::size_t>(best)]))
          best = i;
      },
      [&](std::int64_t y, std::int64_t, std::int64_t) {
        found(static_cast<std::size_t>(y), static_cast<std::size_t>(best));
      });
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("the input", inputs[0]);
  return {ops::f32(poolingGeometry(inputs[0].shape, attributes).outputShape())};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  return {builder.add("max_pooling_gradient", {arguments.inputs[0], arguments.outputs[0], arguments.outputGradients[0]},
                      arguments.attributes)};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  forEachMaximum(*inputs[0], attributes,
                 [&](std::size_t y, std::size_t x) { outputs[0].values[y] = inputs[0]->values[x]; });
}

std::vector<TensorSpec> inferGradient(ops::Specs inputs, const Attributes& attributes) {
  const Shape y = poolingGeometry(inputs[0].shape, attributes).outputShape();
  ops::needShape("y", inputs[1], y);
  ops::needShape("dy", inputs[2], y);
  return {ops::f32(inputs[0].shape)};
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  forEachMaximum(*inputs[0], attributes,
                 [&](std::size_t y, std::size_t x) { outputs[0].values[x] += inputs[2]->values[y]; });
}

}  // namespace max_pooling_op

const OpDefinition& defineMaxPoolingOp() {
  using namespace max_pooling_op;
  static const OpDefinition op{
      .name = "max_pooling", .infer = infer, .gradient = gradient, .reference = reference, .signature = "x -> y"};
  return op;
}

const OpDefinition& defineMaxPoolingGradientOp() {
  using namespace max_pooling_op;
  static const OpDefinition op{.name = "max_pooling_gradient",
                               .infer = inferGradient,
                               .reference = referenceGradient,
                               .signature = "x, y, dy -> dx"};
  return op;
}

}  // namespace loom
