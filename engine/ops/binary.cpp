// binary: y = f(a, b) elementwise, where b is stretched over the axes in which its extent is 1.
#include "engine/ops/binary.h"

#include <cmath>
#include <map>

#include "engine/ops/support.h"

namespace loom {

BinaryFunction binaryFunctionOf(const Attributes& attributes) {
  using enum BinaryFunction;
  static const std::map<std::string, BinaryFunction, std::less<>> byName{{"add", add},
                                                                         {"subtract", subtract},
                                                                         {"multiply", multiply},
                                                                         {"divide", divide},
                                                                         {"maximum", maximum},
                                                                         {"minimum", minimum},
                                                                         {"power", power},
                                                                         {"modulo", modulo},
                                                                         {"fmod", fmod},
                                                                         {"equal", equal},
                                                                         {"not_equal", notEqual},
                                                                         {"greater", greater},
                                                                         {"less", less},
                                                                         {"greater_equal", greaterEqual},
                                                                         {"less_equal", lessEqual}};
  const std::string& name = attributes.text("function");
  const auto found = byName.find(name);
  if (found == byName.end()) throwError(ErrorCode::badProject, "there is no function '{}' of two tensors", name);
  return found->second;
}

double binaryValue(BinaryFunction function, double a, double b) {
  switch (function) {
    case BinaryFunction::add:
      return a + b;
    case BinaryFunction::subtract:
      return a - b;
    case BinaryFunction::multiply:
      return a * b;
    case BinaryFunction::divide:
      return a / b;
    case BinaryFunction::maximum:  // a NaN in either stays
      return std::isnan(a) || a > b ? a : b;
    case BinaryFunction::minimum:
      return std::isnan(a) || a < b ? a : b;
    case BinaryFunction::power:
      return std::pow(a, b);
    case BinaryFunction::modulo: {
      const double left = std::fmod(a, b);
      return left != 0 && (left < 0) != (b < 0) ? left + b : left;
    }
    case BinaryFunction::fmod:
      return std::fmod(a, b);
    case BinaryFunction::equal:
      return a == b;
    case BinaryFunction::notEqual:
      return a != b;
    case BinaryFunction::greater:
      return a > b;
    case BinaryFunction::greaterEqual:
      return a >= b;
    case BinaryFunction::less:
      return a < b;
    case BinaryFunction::lessEqual:
      return a <= b;
  }
  return a;
}

namespace binary_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  binaryFunctionOf(attributes);
  ops::needFloat("a", inputs[0]);
  ops::needFloat("b", inputs[1]);
  ops::needBroadcastable("b", inputs[1].shape, inputs[0].shape);
  return {ops::f32(inputs[0].shape)};
}

// maximum(a, b) = b + relu(a - b): where both are equal, the gradient goes to b.
TensorId shareOfMaximum(ProgramBuilder& builder, const GradientArguments& arguments, TensorId dy) {
  const Attributes relu{{"function", "relu"}};
  const TensorId excess =
      builder.add("unary", {ops::binary(builder, "subtract", arguments.inputs[0], arguments.inputs[1])}, relu);
  return builder.add("unary_gradient", {kNoTensor, excess, dy}, relu);
}

// Of maximum and minimum: what a does not get, b gets.
ops::Gradients gradientOfChoice(ProgramBuilder& builder, const GradientArguments& arguments, TensorId dy) {
  const TensorId a = arguments.inputs[0], b = arguments.inputs[1];
  const Shape shapeB = builder.shape(b);
  const TensorId da = binaryFunctionOf(arguments.attributes) == BinaryFunction::maximum
                          ? shareOfMaximum(builder, arguments, dy)
                          : ops::binary(builder, "multiply", dy, ops::binary(builder, "less", a, b));
  if (!arguments.wanted[1]) return {da, kNoTensor};
  return {da, ops::sumTo(builder, ops::binary(builder, "subtract", dy, da), shapeB)};
}

// y = a^b: da = dy b a^(b - 1), db = dy y log(a), which is NaN where a is negative.
ops::Gradients gradientOfPower(ProgramBuilder& builder, const GradientArguments& arguments, TensorId dy) {
  const TensorId a = arguments.inputs[0], b = arguments.inputs[1];
  const Shape shapeB = builder.shape(b);
  ops::Gradients gradients(2, kNoTensor);
  if (arguments.wanted[0]) {
    const TensorId less = builder.add("scale", {b}, {{"factor", 1.0}, {"offset", -1.0}});
    const TensorId slope = ops::binary(builder, "multiply", ops::binary(builder, "power", a, less), b);
    gradients[0] = ops::binary(builder, "multiply", dy, slope);
  }
  if (arguments.wanted[1]) {
    const TensorId slope =
        ops::binary(builder, "multiply", arguments.outputs[0], builder.add("unary", {a}, {{"function", "log"}}));
    gradients[1] = ops::sumTo(builder, ops::binary(builder, "multiply", dy, slope), shapeB);
  }
  return gradients;
}

TensorId negative(ProgramBuilder& builder, TensorId x) {
  return builder.add("unary", {x}, {{"function", "negative"}});
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const TensorId a = arguments.inputs[0], b = arguments.inputs[1], dy = arguments.outputGradients[0];
  const Shape shapeB = builder.shape(b);
  ops::Gradients gradients(2, kNoTensor);
  switch (const BinaryFunction function = binaryFunctionOf(arguments.attributes)) {
    case BinaryFunction::maximum:
    case BinaryFunction::minimum:
      return gradientOfChoice(builder, arguments, dy);
    case BinaryFunction::power:
      return gradientOfPower(builder, arguments, dy);
    case BinaryFunction::add:
    case BinaryFunction::subtract:
      gradients[0] = dy;
      if (arguments.wanted[1]) {
        gradients[1] = ops::sumTo(builder, dy, shapeB);
        if (function == BinaryFunction::subtract) gradients[1] = negative(builder, gradients[1]);
      }
      return gradients;
    case BinaryFunction::multiply:
      if (arguments.wanted[0]) gradients[0] = ops::binary(builder, "multiply", dy, b);
      if (arguments.wanted[1]) gradients[1] = ops::sumTo(builder, ops::binary(builder, "multiply", dy, a), shapeB);
      return gradients;
    case BinaryFunction::divide:  // da = dy / b, db = -(dy / b) y
      gradients[0] = ops::binary(builder, "divide", dy, b);
      if (arguments.wanted[1]) {
        const TensorId product = ops::binary(builder, "multiply", gradients[0], arguments.outputs[0]);
        gradients[1] = negative(builder, ops::sumTo(builder, product, shapeB));
      }
      return gradients;
    case BinaryFunction::modulo:
    case BinaryFunction::fmod:  // y = a - b n with a whole number n, which stands still: da = dy, db = -dy n
      gradients[0] = dy;
      if (arguments.wanted[1]) {
        const TensorId times =
            ops::binary(builder, "divide", ops::binary(builder, "subtract", arguments.outputs[0], a), b);
        gradients[1] = ops::sumTo(builder, ops::binary(builder, "multiply", times, dy), shapeB);
      }
      return gradients;
    default:  // comparisons: 0 wherever there is one
      return gradients;
  }
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const BinaryFunction function = binaryFunctionOf(attributes);
  const double *a = inputs[0]->values.data(), *b = inputs[1]->values.data();
  double* y = outputs[0].values.data();
  ops::forEach(inputs[0]->shape, ops::broadcastStrides(inputs[1]->shape, inputs[0]->shape),
               [&](std::int64_t i, std::int64_t j) { y[i] = binaryValue(function, a[i], b[j]); });
}

Pointwise pointwise(const Attributes& attributes) {
  return binaryFunctionOf(attributes) == BinaryFunction::add ? Pointwise::sum : Pointwise::none;
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
