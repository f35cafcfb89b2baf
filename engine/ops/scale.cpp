// scale: y = factor x + offset (1 and 0 when absent); scale_by: y = s x with a rank-0 s.
#include "engine/ops/support.h"

namespace loom {
namespace scale_op {

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const double factor = arguments.attributes.real("factor", 1.0);
  if (factor == 1.0) return {arguments.outputGradients[0]};
  return {builder.add("scale", {arguments.outputGradients[0]}, {{"factor", factor}, {"offset", 0.0}})};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const double factor = attributes.real("factor", 1.0), offset = attributes.real("offset", 0.0);
  for (std::size_t i = 0; i < outputs[0].values.size(); ++i)
    outputs[0].values[i] = factor * inputs[0]->values[i] + offset;
}

int equals(ops::Specs, ops::Specs, const Attributes& attributes) {
  return attributes.real("factor", 1.0) == 1.0 && attributes.real("offset", 0.0) == 0.0 ? 0 : -1;
}

std::vector<TensorSpec> inferBy(ops::Specs inputs, const Attributes& attributes) {
  ops::needShape("the factor", inputs[1], {});
  return ops::likeFirst(inputs, attributes);
}

ops::Gradients gradientBy(ProgramBuilder& builder, const GradientArguments& arguments) {
  const TensorId dy = arguments.outputGradients[0];
  ops::Gradients gradients(2, kNoTensor);
  if (arguments.wanted[0]) gradients[0] = builder.add("scale_by", {dy, arguments.inputs[1]});
  if (arguments.wanted[1])
    gradients[1] =
        builder.add("reduce", {ops::binary(builder, "multiply", dy, arguments.inputs[0])}, {{"function", "sum"}});
  return gradients;
}

void referenceBy(ops::References inputs, ops::Outputs outputs, const Attributes&) {
  for (std::size_t i = 0; i < outputs[0].values.size(); ++i)
    outputs[0].values[i] = inputs[1]->values[0] * inputs[0]->values[i];
}

}  // namespace scale_op

const OpDefinition& defineScaleOp() {
  using namespace scale_op;
  static const OpDefinition op{.name = "scale",
                               .infer = ops::likeFirst,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "x -> y",
                               .reusable = {0},
                               .equals = equals};
  return op;
}

const OpDefinition& defineScaleByOp() {
  using namespace scale_op;
  static const OpDefinition op{.name = "scale_by",
                               .infer = inferBy,
                               .gradient = gradientBy,
                               .reference = referenceBy,
                               .signature = "x, s -> y",
                               .reusable = {0}};
  return op;
}

}  // namespace loom
