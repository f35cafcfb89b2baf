// average_pooling: y = the mean of each window; `include_padding` (false when absent): padding counts as zeros, else it
// is left out of sum and count.
#include "engine/ops/pooling_geometry.h"
#include "engine/ops/support.h"

namespace loom {
namespace average_pooling_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  ops::needFloat("the input", inputs[0]);
  return {ops::f32(poolingGeometry(inputs[0].shape, attributes).outputShape())};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const std::vector<std::int64_t>& extents = builder.shape(arguments.inputs[0]).extents();
  Attributes attributes = arguments.attributes;
  attributes.set("input_shape", std::vector<std::int64_t>(extents.begin() + 2, extents.end()));
  return {builder.add("average_pooling_gradient", {arguments.outputGradients[0]}, attributes)};
}

// Linear, so the gradient's own gradient is the pooling.
ops::Gradients gradientOfGradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  return {builder.add("average_pooling", {arguments.outputGradients[0]}, arguments.attributes)};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const bool padded = attributes.boolean("include_padding", false);
  double sum = 0;
  forEachWindow(
      poolingGeometry(inputs[0]->shape, attributes), [&](std::int64_t) { sum = 0; },
      [&](std::int64_t x) { sum += inputs[0]->values[static_cast<std::size_t>(x)]; },
      [&](std::int64_t y, std::int64_t inside, std::int64_t whole) {
        outputs[0].values[static_cast<std::size_t>(y)] = sum / static_cast<double>(padded ? whole : inside);
      });
}

std::vector<TensorSpec> inferGradient(ops::Specs inputs, const Attributes& attributes) {
  const Shape x = poolingInputShape(inputs[0].shape, attributes);
  ops::needShape("dy", inputs[0], poolingGeometry(x, attributes).outputShape());
  return {ops::f32(x)};
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const bool padded = attributes.boolean("include_padding", false);
  std::vector<std::int64_t> window;
  forEachWindow(
      poolingGeometry(outputs[0].shape, attributes), [&](std::int64_t) { window.clear(); },
      [&](std::int64_t x) { window.push_back(x); },
      [&](std::int64_t y, std::int64_t inside, std::int64_t whole) {
        const double share =
            inputs[0]->values[static_cast<std::size_t>(y)] / static_cast<double>(padded ? whole : inside);
        for (std::int64_t x : window) outputs[0].values[static_cast<std::size_t>(x)] += share;
      });
}

}  // namespace average_pooling_op

const OpDefinition& defineAveragePoolingOp() {
  using namespace average_pooling_op;
  static const OpDefinition op{
      .name = "average_pooling", .infer = infer, .gradient = gradient, .reference = reference, .signature = "x -> y"};
  return op;
}

const OpDefinition& defineAveragePoolingGradientOp() {
  using namespace average_pooling_op;
  static const OpDefinition op{.name = "average_pooling_gradient",
                               .infer = inferGradient,
                               .gradient = gradientOfGradient,
                               .reference = referenceGradient,
                               .signature = "dy -> dx"};
  return op;
}

}  // namespace loom
