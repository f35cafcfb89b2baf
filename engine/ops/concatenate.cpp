// concatenate: the inputs one after the other along `axis` (1 when absent).
#include "engine/ops/support.h"

namespace loom {
namespace concatenate_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  const std::int64_t axis = ops::axisOf(inputs[0].shape, attributes, 1);
  Shape y = inputs[0].shape;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i].type != inputs[0].type)
      throwError(ErrorCode::badProject, "input 0 holds {} values, but input {} holds {}", toString(inputs[0].type), i,
                 toString(inputs[i].type));
    Shape expected = y;
    if (inputs[i].shape.rank() == y.rank()) expected[axis] = inputs[i].shape[axis];
    if (inputs[i].shape != expected)
      throwError(ErrorCode::badProject, "input {} is {}, but input 0 is {}: all but axis {} must be equal", i,
                 inputs[i].shape.toString(), inputs[0].shape.toString(), axis);
    y[axis] += inputs[i].shape[axis];
  }
  return {{y, inputs[0].type}};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const std::int64_t axis = ops::axisOf(builder.shape(arguments.inputs[0]), arguments.attributes, 1);
  ops::Gradients gradients(arguments.inputs.size(), kNoTensor);
  std::int64_t start = 0;
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i) {
    const std::int64_t length = builder.shape(arguments.inputs[i])[axis];
    if (arguments.wanted[i])
      gradients[i] = builder.add("slice", {arguments.outputGradients[0]},
                                 {{"axis", axis}, {"start", start}, {"length", length}, {"step", 1}});
    start += length;
  }
  return gradients;
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const std::int64_t axis = ops::axisOf(outputs[0].shape, attributes, 1);
  const ops::AxisView all = ops::viewAlong(outputs[0].shape, axis);
  std::int64_t start = 0;
  for (const ReferenceTensor* input : inputs) {
    const ops::AxisView view = ops::viewAlong(input->shape, axis);
    for (std::int64_t o = 0; o < view.outer; ++o)
      for (std::int64_t a = 0; a < view.length; ++a)
        for (std::int64_t i = 0; i < view.inner; ++i)
          outputs[0].values[static_cast<std::size_t>((o * all.length + start + a) * all.inner + i)] =
              input->values[static_cast<std::size_t>((o * view.length + a) * view.inner + i)];
    start += view.length;
  }
}

}  // namespace concatenate_op

const OpDefinition& defineConcatenateOp() {
  using namespace concatenate_op;
  static const OpDefinition op{
      .name = "concatenate", .infer = infer, .gradient = gradient, .reference = reference, .signature = "x... -> y"};
  return op;
}

}  // namespace loom
