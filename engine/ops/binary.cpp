// binary: y = f(a, b) elementwise, where b is stretched over the axes in which its extent is 1.
#include <cmath>

#include "engine/ops/support.h"

namespace loom {
namespace binary_op {

double apply(const std::string& function, double a, double b) {
  if (function == "add") return a + b;
  if (function == "subtract") return a - b;
  if (function == "multiply") return a * b;
  if (function == "divide") return a / b;
  return std::isnan(a) || a > b ? a : b;  // maximum; a NaN in either stays
}

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  const std::string& function = attributes.text("function");
  for (const char* known : {"add", "subtract", "multiply", "divide", "maximum"}) {
    if (function != known) continue;
    ops::needFloat("a", inputs[0]);
    ops::needFloat("b", inputs[1]);
    ops::needBroadcastable("b", inputs[1].shape, inputs[0].shape);
    return {ops::f32(inputs[0].shape)};
  }
  throwError(ErrorCode::badProject, "there is no function '{}' of two tensors", function);
}

// maximum(a, b) = b + relu(a - b): where both are equal, the gradient goes to b.
ops::Gradients gradientOfMaximum(ProgramBuilder& builder, const GradientArguments& arguments, TensorId dy) {
  const Attributes relu{{"function", "relu"}};
  const TensorId excess =
      builder.add("unary", {ops::binary(builder, "subtract", arguments.inputs[0], arguments.inputs[1])}, relu);
  const TensorId da = builder.add("unary_gradient", {kNoTensor, excess, dy}, relu);
  if (!arguments.wanted[1]) return {da, kNoTensor};
  return {da, ops::sumTo(builder, ops::binary(builder, "subtract", dy, da), builder.shape(arguments.inputs[1]))};
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const std::string& function = arguments.attributes.text("function");
  const TensorId a = arguments.inputs[0], b = arguments.inputs[1], dy = arguments.outputGradients[0];
  if (function == "maximum") return gradientOfMaximum(builder, arguments, dy);

  const Shape shapeB = builder.shape(b);
  ops::Gradients gradients(2, kNoTensor);
  if (function == "add" || function == "subtract") {
    gradients[0] = dy;
    if (arguments.wanted[1]) {
      gradients[1] = ops::sumTo(builder, dy, shapeB);
      if (function == "subtract") gradients[1] = builder.add("unary", {gradients[1]}, {{"function", "negative"}});
    }
  } else if (function == "multiply") {
    if (arguments.wanted[0]) gradients[0] = ops::binary(builder, "multiply", dy, b);
    if (arguments.wanted[1]) gradients[1] = ops::sumTo(builder, ops::binary(builder, "multiply", dy, a), shapeB);
  } else {  // divide: da = dy / b, db = -(dy / b) y
    gradients[0] = ops::binary(builder, "divide", dy, b);
    if (arguments.wanted[1]) {
      const TensorId product = ops::binary(builder, "multiply", gradients[0], arguments.outputs[0]);
      gradients[1] = builder.add("unary", {ops::sumTo(builder, product, shapeB)}, {{"function", "negative"}});
    }
  }
  return gradients;
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const std::string& function = attributes.text("function");
  const double *a = inputs[0]->values.data(), *b = inputs[1]->values.data();
  double* y = outputs[0].values.data();
  ops::forEach(inputs[0]->shape, ops::broadcastStrides(inputs[1]->shape, inputs[0]->shape),
               [&](std::int64_t i, std::int64_t j) { y[i] = apply(function, a[i], b[j]); });
}

Pointwise pointwise(const Attributes& attributes) {
  return attributes.text("function") == "add" ? Pointwise::sum : Pointwise::none;
}

}  // namespace binary_op

const OpDefinition& defineBinaryOp() {
  using namespace binary_op;
  static const OpDefinition op{.name = "binary",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "a, b -> y",
                               .reusable = {0, 1},
                               .pointwise = pointwise};
  return op;
}

}  // namespace loom
