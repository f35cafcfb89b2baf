// dropout (Srivastava et al., 2014): y = x / (1 - p) where the sample's word keeps the element, else 0. The mask is a
// function of (stream, step, place in the global batch, element): noise.h. Its gradient is the same op on dy, so no
// mask is ever stored.
#include "engine/ops/noise.h"
#include "engine/ops/support.h"

namespace loom {
namespace dropout_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needRank("the input", inputs[0], 1, 8);
  ops::needShape("the step", inputs[1], {});
  ops::needShape("the first sample", inputs[2], {});
  const double probability = attributes.real("probability");
  if (!(probability >= 0 && probability < 1))
    throwError(ErrorCode::badProject, "the probability of dropout is {}, but must be at least 0 and less than 1",
               probability);
  return ops::likeFirst(inputs, attributes);
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  return {builder.add("dropout", {arguments.outputGradients[0], arguments.inputs[1], arguments.inputs[2]},
                      arguments.attributes),
          kNoTensor, kNoTensor};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const double probability = attributes.real("probability");
  const Philox philox = noiseOf(attributes);
  const auto step = static_cast<std::int64_t>(inputs[1]->values[0]),
             first = static_cast<std::int64_t>(inputs[2]->values[0]);
  const ops::AxisView view = ops::viewAlong(inputs[0]->shape, 0);
  for (std::int64_t row = 0; row < view.length; ++row)
    for (std::int64_t i = 0; i < view.inner; ++i) {
      const bool kept = noiseKeeps(noiseWord(philox, noiseCounter(step, first + row), i), probability);
      const auto at = static_cast<std::size_t>(row * view.inner + i);
      outputs[0].values[at] = kept ? inputs[0]->values[at] / (1 - probability) : 0;
    }
}

int equals(ops::Specs, ops::Specs, const Attributes& attributes) {
  return attributes.real("probability") == 0.0 ? 0 : -1;
}

}  // namespace dropout_op

const OpDefinition& defineDropoutOp() {
  using namespace dropout_op;
  static const OpDefinition op{.name = "dropout",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "x, step, first_sample -> y",
                               .reusable = {0},
                               .equals = equals};
  return op;
}

}  // namespace loom
