// select: y = a where the condition is not 0 (a NaN is not), else b.
#include "engine/ops/support.h"

namespace loom {
namespace select_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes&) {
  for (const TensorSpec& input : inputs) ops::needFloat("each input of a selection", input);
  ops::needSameShape("the condition", inputs[0], "a", inputs[1]);
  ops::needSameShape("b", inputs[2], "a", inputs[1]);
  return {ops::f32(inputs[1].shape)};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const TensorId condition = arguments.inputs[0], dy = arguments.outputGradients[0];
  const Shape shape = builder.shape(dy);
  const TensorId none =
      builder.add("broadcast", {builder.constant(0, Shape(std::vector<std::int64_t>(shape.rank(), 1)))},
                  {{"shape", shape.extents()}});
  ops::Gradients gradients(3, kNoTensor);
  if (arguments.wanted[1]) gradients[1] = builder.add("select", {condition, dy, none});
  if (arguments.wanted[2]) gradients[2] = builder.add("select", {condition, none, dy});
  return gradients;
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes&) {
  for (std::size_t i = 0; i < outputs[0].values.size(); ++i)
    outputs[0].values[i] = inputs[inputs[0]->values[i] != 0 ? 1 : 2]->values[i];
}

}  // namespace select_op

const OpDefinition& defineSelectOp() {
  using namespace select_op;
  static const OpDefinition op{.name = "select",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "condition, a, b -> y",
                               .reusable = {1, 2, 0}};
  return op;
}

}  // namespace loom
