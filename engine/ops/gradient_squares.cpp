// gradient_squares: the sum of squares of each x, in f64. What a step needs to know of all gradients before it changes
// anything: whether they are finite, and how long they are together. A square in f64 never overflows, so a sum is
// finite where all elements are.
#include "engine/ops/support.h"

namespace loom {
namespace gradient_squares_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes&) {
  for (const TensorSpec& input : inputs) ops::needFloat("each gradient", input);
  return {{Shape{static_cast<std::int64_t>(inputs.size())}, DataType::f64}};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes&) {
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    double sum = 0;
    for (const double value : inputs[i]->values) sum += value * value;
    outputs[0].values[i] = sum;
  }
}

}  // namespace gradient_squares_op

const OpDefinition& defineGradientSquaresOp() {
  using namespace gradient_squares_op;
  static const OpDefinition op{.name = "gradient_squares",
                               .infer = infer,
                               .reference = reference,
                               .signature = "gradients... -> squares",
                               .flat = true};
  return op;
}

}  // namespace loom
