// reduce_scatter: x is summed over the ranks, and rank r keeps part r of axis 0.
#include "engine/ops/communication.h"

namespace loom {
namespace reduce_scatter_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("what is summed over the ranks", inputs[0]);
  ops::needRank("what is summed over the ranks", inputs[0], 1, 8);
  const std::int64_t ranks = ops::ranksOf(attributes);
  Shape y = inputs[0].shape;
  if (y[0] % ranks != 0)
    throwError(ErrorCode::badProject, "axis 0 of {} has {}, which {} ranks cannot share evenly: {} or {} would do",
               y.toString(), y[0], ranks, y[0] / ranks * ranks, (y[0] / ranks + 1) * ranks);
  y[0] /= ranks;
  return {ops::f32(y)};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  return {builder.add("all_gather", {arguments.outputGradients[0]}, arguments.attributes)};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  ops::needAlone("reduce_scatter", attributes);
  outputs[0].values = inputs[0]->values;
}

}  // namespace reduce_scatter_op

const OpDefinition& defineReduceScatterOp() {
  using namespace reduce_scatter_op;
  static const OpDefinition op{.name = "reduce_scatter",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "x -> y",
                               .communicates = true};
  return op;
}

}  // namespace loom
