// transpose: axis i of y is axis axes[i] of x.
#include "engine/ops/support.h"

namespace loom {
namespace transpose_op {

std::vector<std::int64_t> permutationOf(const Shape& x, const Attributes& attributes) {
  std::vector<std::int64_t> axes;
  for (std::int64_t axis : attributes.integers("axes")) axes.push_back(ops::axisOf(x, axis));
  std::vector<std::int64_t> sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  const bool twice = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  if (axes.size() != x.rank() || twice)
    throwError(ErrorCode::badProject, "a transpose of {} must name each of its {} axes once, but names {}{}",
               x.toString(), x.rank(), axes.size(), twice ? ", one of them twice" : "");
  return axes;
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  std::vector<std::int64_t> extents;
  for (std::int64_t axis : permutationOf(inputs[0].shape, attributes)) extents.push_back(inputs[0].shape[axis]);
  return {{Shape(std::move(extents)), inputs[0].type}};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const std::vector<std::int64_t> axes = permutationOf(builder.shape(arguments.inputs[0]), arguments.attributes);
  std::vector<std::int64_t> inverse(axes.size());
  for (std::size_t i = 0; i < axes.size(); ++i)
    inverse[static_cast<std::size_t>(axes[i])] = static_cast<std::int64_t>(i);
  return {builder.add("transpose", {arguments.outputGradients[0]}, {{"axes", inverse}})};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const std::vector<std::int64_t> strides = ops::stridesOf(inputs[0]->shape);
  std::vector<std::int64_t> permuted;
  for (std::int64_t axis : permutationOf(inputs[0]->shape, attributes))
    permuted.push_back(strides[static_cast<std::size_t>(axis)]);
  ops::forEach(outputs[0].shape, permuted, [&](std::int64_t y, std::int64_t x) {
    outputs[0].values[static_cast<std::size_t>(y)] = inputs[0]->values[static_cast<std::size_t>(x)];
  });
}

std::vector<std::int64_t> fromZero(std::vector<std::int64_t> axes) {
  for (std::int64_t& axis : axes)
    if (axis < 0) axis += static_cast<std::int64_t>(axes.size());
  return axes;
}

int equals(ops::Specs, ops::Specs, const Attributes& attributes) {
  const std::vector<std::int64_t> axes = fromZero(attributes.integers("axes"));
  return std::is_sorted(axes.begin(), axes.end()) ? 0 : -1;
}

bool undoes(const Attributes& attributes, const Attributes& earlier) {
  const std::vector<std::int64_t> axes = fromZero(attributes.integers("axes")),
                                  before = fromZero(earlier.integers("axes"));
  for (std::size_t i = 0; i < axes.size(); ++i)
    if (before[static_cast<std::size_t>(axes[i])] != static_cast<std::int64_t>(i)) return false;
  return true;
}

}  // namespace transpose_op

const OpDefinition& defineTransposeOp() {
  using namespace transpose_op;
  static const OpDefinition op{.name = "transpose",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "x -> y",
                               .equals = equals,
                               .undoes = undoes};
  return op;
}

}  // namespace loom
