// top_k: the k largest (or, with `largest` false, smallest) values along the last axis, in order, and where they stood.
// Of equal values the first comes first; a NaN comes before all others.
#include <cmath>
#include <numeric>

#include "engine/ops/resample.h"
#include "engine/ops/support.h"

namespace loom {
namespace top_k_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("the input", inputs[0]);
  ops::needRank("the input", inputs[0], 1, 8);
  Shape y = inputs[0].shape;
  const std::int64_t k = attributes.integer("k"), extent = y[-1];
  if (k < 1 || k > extent)
    throwError(ErrorCode::badProject, "the first {} of {} values are wanted: it must be 1 to {}", k, extent, extent);
  y[-1] = k;
  return {ops::f32(y), ops::f32(y)};
}

// dx[j] = sum over the places k with indices[k] = j of dy[k].
ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const TensorId dy = arguments.outputGradients[0];
  if (dy == kNoTensor) return {kNoTensor};  // where they stood is a number of steps
  const Shape x = builder.shape(arguments.inputs[0]);
  const std::int64_t extent = x[-1], k = builder.shape(dy)[-1], rows = x.elements() / extent;
  AxisMap count;
  for (std::int64_t j = 0; j < extent; ++j) {
    count.addRow({0});
    count.weights.push_back(static_cast<double>(j));
  }
  const TensorId numbers = builder.add("resample", {builder.constant(1, {1, 1, 1})}, attributesOf(count, 2));
  const TensorId places = builder.add("broadcast", {ops::reshapeTo(builder, arguments.outputs[1], {rows, k, 1})},
                                      {{"shape", std::vector<std::int64_t>{rows, k, extent}}});
  const TensorId chosen = ops::binary(builder, "equal", places, numbers);
  const TensorId shares = ops::binary(builder, "multiply", chosen, ops::reshapeTo(builder, dy, {rows, k, 1}));
  return {ops::reshapeTo(builder, ops::sumTo(builder, shares, {rows, 1, extent}), x)};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const auto extent = static_cast<std::size_t>(inputs[0]->shape[-1]),
             k = static_cast<std::size_t>(attributes.integer("k"));
  const bool largest = attributes.boolean("largest", true);
  std::vector<std::size_t> order(extent);
  for (std::size_t row = 0; row < inputs[0]->values.size() / extent; ++row) {
    const double* x = inputs[0]->values.data() + row * extent;
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      if (std::isnan(x[a]) || std::isnan(x[b])) return std::isnan(x[a]) && !std::isnan(x[b]);
      return largest ? x[a] > x[b] : x[a] < x[b];
    });
    for (std::size_t i = 0; i < k; ++i) {
      outputs[0].values[row * k + i] = x[order[i]];
      outputs[1].values[row * k + i] = static_cast<double>(order[i]);
    }
  }
}

}  // namespace top_k_op

const OpDefinition& defineTopKOp() {
  using namespace top_k_op;
  static const OpDefinition op{.name = "top_k",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "x -> values, indices"};
  return op;
}

}  // namespace loom
