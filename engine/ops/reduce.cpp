// reduce: the sum or mean over `axes` (all when absent); `keep` leaves them with extent 1 (false when absent).
#include "engine/ops/support.h"

namespace loom {
namespace reduce_op {

struct Reduction {
  Shape kept;             // the outcome with the reduced axes as 1
  std::int64_t elements;  // summed into each
};

Reduction reductionOf(const Shape& x, const Attributes& attributes) {
  Reduction reduction{x, 1};
  for (std::int64_t axis : ops::axesOf(x, attributes)) {
    reduction.elements *= x[axis];
    reduction.kept[axis] = 1;
  }
  return reduction;
}

bool isMean(const Attributes& attributes) {
  return attributes.text("function") == "mean";
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("the input", inputs[0]);
  const std::string& function = attributes.text("function");
  if (function != "sum" && function != "mean")
    throwError(ErrorCode::badProject, "there is no reduction '{}', only 'sum' and 'mean'", function);
  const Shape& x = inputs[0].shape;
  if (attributes.boolean("keep", false)) return {ops::f32(reductionOf(x, attributes).kept)};
  const std::vector<std::int64_t> axes = ops::axesOf(x, attributes);
  std::vector<std::int64_t> left;
  for (std::size_t axis = 0; axis < x.rank(); ++axis)
    if (!std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)))
      left.push_back(x.extents()[axis]);
  return {ops::f32(Shape(std::move(left)))};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const Shape x = builder.shape(arguments.inputs[0]);
  const Reduction reduction = reductionOf(x, arguments.attributes);
  TensorId dy = arguments.outputGradients[0];
  if (isMean(arguments.attributes))
    dy = builder.add("scale", {dy}, {{"factor", 1.0 / static_cast<double>(reduction.elements)}, {"offset", 0.0}});
  dy = ops::reshapeTo(builder, dy, reduction.kept);
  return {builder.add("broadcast", {dy}, {{"shape", x.extents()}})};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const Shape& x = inputs[0]->shape;
  const Reduction reduction = reductionOf(x, attributes);
  std::vector<double>& y = outputs[0].values;
  ops::forEach(x, ops::broadcastStrides(reduction.kept, x), [&](std::int64_t i, std::int64_t j) {
    y[static_cast<std::size_t>(j)] += inputs[0]->values[static_cast<std::size_t>(i)];
  });
  if (isMean(attributes))
    for (double& value : y) value /= static_cast<double>(reduction.elements);
}

}  // namespace reduce_op

const OpDefinition& defineReduceOp() {
  using namespace reduce_op;
  static const OpDefinition op{
      .name = "reduce", .infer = infer, .gradient = gradient, .reference = reference, .signature = "x -> y"};
  return op;
}

}  // namespace loom
