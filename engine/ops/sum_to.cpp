// sum_to: sums over the axes in which `shape` has extent 1; broadcast: repeats along them. Each is the other's
// gradient.
#include "engine/ops/support.h"

namespace loom {
namespace sum_to_op {

std::vector<TensorSpec> inferSum(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("the input", inputs[0]);
  const Shape shape(attributes.integers("shape"));
  ops::needBroadcastable("the sum", shape, inputs[0].shape);
  return {ops::f32(shape)};
}

std::vector<TensorSpec> inferBroadcast(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("the input", inputs[0]);
  const Shape shape(attributes.integers("shape"));
  ops::needBroadcastable("the input", inputs[0].shape, shape);
  return {ops::f32(shape)};
}

ops::Gradients gradientOfSum(ProgramBuilder& builder, const GradientArguments& arguments) {
  return {builder.add("broadcast", {arguments.outputGradients[0]},
                      {{"shape", builder.shape(arguments.inputs[0]).extents()}})};
}

ops::Gradients gradientOfBroadcast(ProgramBuilder& builder, const GradientArguments& arguments) {
  return {ops::sumTo(builder, arguments.outputGradients[0], builder.shape(arguments.inputs[0]))};
}

void referenceSum(ops::References inputs, ops::Outputs outputs, const Attributes&) {
  const double* x = inputs[0]->values.data();
  double* y = outputs[0].values.data();
  ops::forEach(inputs[0]->shape, ops::broadcastStrides(outputs[0].shape, inputs[0]->shape),
               [&](std::int64_t i, std::int64_t j) { y[j] += x[i]; });
}

void referenceBroadcast(ops::References inputs, ops::Outputs outputs, const Attributes&) {
  const double* x = inputs[0]->values.data();
  double* y = outputs[0].values.data();
  ops::forEach(outputs[0].shape, ops::broadcastStrides(inputs[0]->shape, outputs[0].shape),
               [&](std::int64_t i, std::int64_t j) { y[i] = x[j]; });
}

}  // namespace sum_to_op

const OpDefinition& defineSumToOp() {
  using namespace sum_to_op;
  static const OpDefinition op{.name = "sum_to",
                               .infer = inferSum,
                               .gradient = gradientOfSum,
                               .reference = referenceSum,
                               .signature = "x -> y",
                               .equals = ops::firstOfSameShape};
  return op;
}

const OpDefinition& defineBroadcastOp() {
  using namespace sum_to_op;
  static const OpDefinition op{.name = "broadcast",
                               .infer = inferBroadcast,
                               .gradient = gradientOfBroadcast,
                               .reference = referenceBroadcast,
                               .signature = "x -> y",
                               .equals = ops::firstOfSameShape};
  return op;
}

}  // namespace loom
