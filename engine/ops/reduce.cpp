// reduce: the sum, mean, maximum, minimum or product over `axes` (all when absent); `keep` leaves them with extent 1
// (false when absent).
#include "engine/ops/reduce.h"

#include <cmath>

#include "engine/ops/support.h"

namespace loom {

ReduceFunction reduceFunctionOf(const Attributes& attributes) {
  const std::string& name = attributes.text("function");
  if (name == "sum") return ReduceFunction::sum;
  if (name == "mean") return ReduceFunction::mean;
  if (name == "maximum") return ReduceFunction::maximum;
  if (name == "minimum") return ReduceFunction::minimum;
  if (name == "product") return ReduceFunction::product;
  throwError(ErrorCode::badProject,
             "there is no reduction '{}', only 'sum', 'mean', 'maximum', 'minimum' and 'product'", name);
}

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
  return reduceFunctionOf(attributes) == ReduceFunction::mean;
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("the input", inputs[0]);
  reduceFunctionOf(attributes);
  const Shape& x = inputs[0].shape;
  if (attributes.boolean("keep", false)) return {ops::f32(reductionOf(x, attributes).kept)};
  const std::vector<std::int64_t> axes = ops::axesOf(x, attributes);
  std::vector<std::int64_t> left;
  for (std::size_t axis = 0; axis < x.rank(); ++axis)
    if (!std::binary_search(axes.begin(), axes.end(), static_cast<std::int64_t>(axis)))
      left.push_back(x.extents()[axis]);
  return {ops::f32(Shape(std::move(left)))};
}

// Those that are as large as the result share its gradient evenly.
TensorId gradientOfExtreme(ProgramBuilder& builder, TensorId x, TensorId y, TensorId dy) {
  const TensorId chosen = ops::binary(builder, "equal", x, y);
  const TensorId share = ops::binary(builder, "divide", dy, ops::sumTo(builder, chosen, builder.shape(y)));
  return ops::binary(builder, "multiply", chosen, share);
}

// dx = dy times the product of the others. With x's zeros as ones the product P and their number n are found; the
// product of the others is P / x where no other is zero, and 0 elsewhere.
TensorId gradientOfProduct(ProgramBuilder& builder, TensorId x, const Shape& kept, TensorId dy,
                           const Attributes& attributes) {
  const TensorId zero = builder.constant(0, Shape(std::vector<std::int64_t>(kept.rank(), 1)));
  const TensorId isZero = ops::binary(builder, "equal", x, zero);
  const TensorId filled = ops::binary(builder, "add", x, isZero);
  const TensorId product = ops::reshapeTo(builder, builder.add("reduce", {filled}, attributes), kept);
  const TensorId zeros = ops::sumTo(builder, isZero, kept);
  const TensorId noOther = ops::binary(builder, "equal", ops::binary(builder, "subtract", isZero, zeros), zero);
  const TensorId others = ops::binary(builder, "multiply", ops::binary(builder, "divide", noOther, filled), product);
  return ops::binary(builder, "multiply", others, dy);
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const Shape x = builder.shape(arguments.inputs[0]);
  const Reduction reduction = reductionOf(x, arguments.attributes);
  TensorId dy = arguments.outputGradients[0];
  if (isMean(arguments.attributes))
    dy = builder.add("scale", {dy}, {{"factor", 1.0 / static_cast<double>(reduction.elements)}, {"offset", 0.0}});
  dy = ops::reshapeTo(builder, dy, reduction.kept);
  const ReduceFunction function = reduceFunctionOf(arguments.attributes);
  if (function == ReduceFunction::product)
    return {gradientOfProduct(builder, arguments.inputs[0], reduction.kept, dy, arguments.attributes)};
  if (!isSum(function))
    return {gradientOfExtreme(builder, arguments.inputs[0],
                              ops::reshapeTo(builder, arguments.outputs[0], reduction.kept), dy)};
  return {builder.add("broadcast", {dy}, {{"shape", x.extents()}})};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const Shape& x = inputs[0]->shape;
  const Reduction reduction = reductionOf(x, attributes);
  const ReduceFunction function = reduceFunctionOf(attributes);
  std::vector<double>& y = outputs[0].values;
  if (!isSum(function)) std::fill(y.begin(), y.end(), double{beginningOf(function)});
  ops::forEach(x, ops::broadcastStrides(reduction.kept, x), [&](std::int64_t i, std::int64_t j) {
    const double value = inputs[0]->values[static_cast<std::size_t>(i)];
    double& result = y[static_cast<std::size_t>(j)];
    if (isSum(function))
      result += value;
    else if (function == ReduceFunction::product)
      result *= value;
    else if (std::isnan(value) || (function == ReduceFunction::maximum ? value > result : value < result))
      result = value;
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
