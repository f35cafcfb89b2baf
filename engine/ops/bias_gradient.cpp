// bias_gradient: db[a] = sum of dy over all axes but `axis` (1 when absent).
#include "engine/ops/support.h"

namespace loom {
namespace bias_gradient_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("dy", inputs[0]);
  return {ops::f32({inputs[0].shape[ops::axisOf(inputs[0].shape, attributes, 1)]})};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const Shape shape = builder.shape(arguments.inputs[0]);
  const std::int64_t axis = ops::axisOf(shape, arguments.attributes, 1);
  const TensorId vector = ops::alongAxis(builder, arguments.outputGradients[0], shape, axis);
  return {builder.add("broadcast", {vector}, {{"shape", shape.extents()}})};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const ops::AxisView view = ops::viewAlong(inputs[0]->shape, ops::axisOf(inputs[0]->shape, attributes, 1));
  const double* dy = inputs[0]->values.data();
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t a = 0; a < view.length; ++a)
      for (std::int64_t i = 0; i < view.inner; ++i)
        outputs[0].values[static_cast<std::size_t>(a)] += dy[(o * view.length + a) * view.inner + i];
}

}  // namespace bias_gradient_op

const OpDefinition& defineBiasGradientOp() {
  using namespace bias_gradient_op;
  static const OpDefinition op{
      .name = "bias_gradient", .infer = infer, .gradient = gradient, .reference = reference, .signature = "dy -> db"};
  return op;
}

}  // namespace loom
