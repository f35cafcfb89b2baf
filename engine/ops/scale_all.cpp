// scale_all: y_i = s x_i for any number of tensors at once, with a rank-0 s; without one they are copied. For what
// there are many of and each is small, such as running statistics.
#include "engine/ops/support.h"

namespace loom {
namespace scale_all_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes&) {
  if (inputs[0].present) {
    ops::needFloat("the factor", inputs[0]);
    ops::needShape("the factor", inputs[0], {});
  }
  std::vector<TensorSpec> outputs;
  for (const TensorSpec& input : inputs.subspan(1)) {
    ops::needFloat("each tensor", input);
    outputs.push_back(ops::f32(input.shape));
  }
  return outputs;
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes&) {
  const double factor = inputs[0] ? inputs[0]->values[0] : 1;
  for (std::size_t k = 0; k < outputs.size(); ++k)
    for (std::size_t i = 0; i < outputs[k].values.size(); ++i) outputs[k].values[i] = factor * inputs[k + 1]->values[i];
}

}  // namespace scale_all_op

const OpDefinition& defineScaleAllOp() {
  using namespace scale_all_op;
  static const OpDefinition op{
      .name = "scale_all", .infer = infer, .reference = reference, .signature = "s?, x... -> y...", .flat = true};
  return op;
}

}  // namespace loom
