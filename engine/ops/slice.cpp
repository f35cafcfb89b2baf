// slice: element a of y along `axis` is element start + a step of x; slice_gradient: the same backwards, zeros
// elsewhere.
#include "engine/ops/support.h"

namespace loom {
namespace slice_op {

struct Range {
  std::int64_t axis, start, length, step;
};

Range rangeOf(const Shape& x, const Attributes& attributes) {
  const Range range{ops::axisOf(x, attributes, 1), attributes.integer("start", 0), attributes.integer("length"),
                    attributes.integer("step", 1)};
  const std::int64_t last = range.start + (range.length - 1) * range.step;
  if (range.length < 1 || range.step < 1 || range.start < 0 || last >= x[range.axis])
    throwError(ErrorCode::badProject,
               "a slice of {} values from {} in steps of {} ends at {}, but axis {} of {} has {}: 0 to {}",
               range.length, range.start, range.step, last, range.axis, x.toString(), x[range.axis], x[range.axis] - 1);
  return range;
}

// Calls visit(index in the whole, index in the slice).
template <class Visit>
void forEachOf(const Shape& whole, const Attributes& attributes, const Visit& visit) {
  const Range range = rangeOf(whole, attributes);
  const ops::AxisView view = ops::viewAlong(whole, range.axis);
  for (std::int64_t o = 0; o < view.outer; ++o)
    for (std::int64_t a = 0; a < range.length; ++a)
      for (std::int64_t i = 0; i < view.inner; ++i)
        visit(static_cast<std::size_t>((o * view.length + range.start + a * range.step) * view.inner + i),
              static_cast<std::size_t>((o * range.length + a) * view.inner + i));
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  const Range range = rangeOf(inputs[0].shape, attributes);
  Shape y = inputs[0].shape;
  y[range.axis] = range.length;
  return {{y, inputs[0].type}};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  Attributes attributes = arguments.attributes;
  attributes.set("input_shape", builder.shape(arguments.inputs[0]).extents());
  return {builder.add("slice_gradient", {arguments.outputGradients[0]}, attributes)};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  forEachOf(inputs[0]->shape, attributes,
            [&](std::size_t x, std::size_t y) { outputs[0].values[y] = inputs[0]->values[x]; });
}

std::vector<TensorSpec> inferGradient(ops::Specs inputs, const Attributes& attributes) {
  const Shape x(attributes.integers("input_shape"));
  const TensorSpec whole = ops::f32(x);
  ops::needShape("the gradient of a slice of " + x.toString(), inputs[0], infer({&whole, 1}, attributes)[0].shape);
  return {whole};
}

ops::Gradients gradientOfGradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  return {builder.add("slice", {arguments.outputGradients[0]}, arguments.attributes)};
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  forEachOf(outputs[0].shape, attributes,
            [&](std::size_t x, std::size_t y) { outputs[0].values[x] = inputs[0]->values[y]; });
}

}  // namespace slice_op

const OpDefinition& defineSliceOp() {
  using namespace slice_op;
  static const OpDefinition op{
      .name = "slice", .infer = infer, .gradient = gradient, .reference = reference, .signature = "x -> y"};
  return op;
}

const OpDefinition& defineSliceGradientOp() {
  using namespace slice_op;
  static const OpDefinition op{.name = "slice_gradient",
                               .infer = inferGradient,
                               .gradient = gradientOfGradient,
                               .reference = referenceGradient,
                               .signature = "dy -> dx"};
  return op;
}

}  // namespace loom
