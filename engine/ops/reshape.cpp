// reshape: the same values in the same order under another shape.
#include "engine/ops/support.h"

namespace loom {
namespace reshape_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  const Shape shape(attributes.integers("shape"));
  if (shape.elements() != inputs[0].shape.elements())
    throwError(ErrorCode::badProject, "{} values in {} cannot be reshaped to {}, which holds {}",
               inputs[0].shape.elements(), inputs[0].shape.toString(), shape.toString(), shape.elements());
  return {{shape, inputs[0].type}};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  return {ops::reshapeTo(builder, arguments.outputGradients[0], builder.shape(arguments.inputs[0]))};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes&) {
  outputs[0].values = inputs[0]->values;
}

// Whatever shape it had in between.
bool undoes(const Attributes&, const Attributes&) {
  return true;
}

}  // namespace reshape_op

const OpDefinition& defineReshapeOp() {
  using namespace reshape_op;
  static const OpDefinition op{.name = "reshape",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "x -> y",
                               .reusable = {0},
                               .equals = ops::firstOfSameShape,
                               .undoes = undoes,
                               .isView = true};
  return op;
}

}  // namespace loom
