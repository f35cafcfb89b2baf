// stop_gradient: y = x, through which nothing flows back.
#include "engine/ops/support.h"

namespace loom {
namespace stop_gradient_op {

void reference(ops::References inputs, ops::Outputs outputs, const Attributes&) {
  outputs[0].values = inputs[0]->values;
}

}  // namespace stop_gradient_op

const OpDefinition& defineStopGradientOp() {
  using namespace stop_gradient_op;
  static const OpDefinition op{.name = "stop_gradient",
                               .infer = ops::likeFirst,
                               .reference = reference,
                               .signature = "x -> y",
                               .reusable = {0},
                               .isView = true,
                               .flat = true};
  return op;
}

}  // namespace loom
