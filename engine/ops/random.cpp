// random: noise of the attribute `shape` (N first), new at every step, a function of the sample's place in the global
// batch.
#include "engine/ops/noise.h"
#include "engine/ops/support.h"

namespace loom {
namespace random_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needShape("the step", inputs[0], {});
  ops::needShape("the first sample", inputs[1], {});
  const std::string& distribution = attributes.text("distribution");
  if (distribution != "normal" && distribution != "uniform")
    throwError(ErrorCode::badProject, "there is no distribution '{}', only 'normal' and 'uniform'", distribution);
  const TensorSpec y = ops::f32(Shape(attributes.integers("shape")));
  ops::needRank("noise", y, 1, 8);
  return {y};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const bool normal = attributes.text("distribution") == "normal";
  const Philox philox = noiseOf(attributes);
  const auto step = static_cast<std::int64_t>(inputs[0]->values[0]),
             first = static_cast<std::int64_t>(inputs[1]->values[0]);
  const ops::AxisView view = ops::viewAlong(outputs[0].shape, 0);
  for (std::int64_t row = 0; row < view.length; ++row) {
    const std::uint64_t counter = noiseCounter(step, first + row);
    for (std::int64_t i = 0; i < view.inner; ++i)
      outputs[0].values[static_cast<std::size_t>(row * view.inner + i)] =
          normal ? normalFrom(noiseWord(philox, counter, 2 * i), noiseWord(philox, counter, 2 * i + 1))
                 : Philox::toUniform(noiseWord(philox, counter, i));
  }
}

}  // namespace random_op

const OpDefinition& defineRandomOp() {
  using namespace random_op;
  static const OpDefinition op{
      .name = "random", .infer = infer, .reference = reference, .signature = "step, first_sample -> y"};
  return op;
}

}  // namespace loom
