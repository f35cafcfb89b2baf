// unary: y = f(x) elementwise, and unary_gradient: dx = dy f'(x).
#include "engine/ops/unary.h"

#include <cmath>
#include <map>
#include <numbers>

#include "engine/ops/support.h"

namespace loom {
namespace unary_op {

const std::map<std::string, UnaryFunction, std::less<>>& functions() {
  static const std::map<std::string, UnaryFunction, std::less<>> byName{
      {"relu", UnaryFunction::relu},         {"leaky_relu", UnaryFunction::leakyRelu},
      {"elu", UnaryFunction::elu},           {"selu", UnaryFunction::selu},
      {"gelu", UnaryFunction::gelu},         {"silu", UnaryFunction::silu},
      {"sigmoid", UnaryFunction::sigmoid},   {"tanh", UnaryFunction::tanh},
      {"exp", UnaryFunction::exp},           {"log", UnaryFunction::log},
      {"square", UnaryFunction::square},     {"sqrt", UnaryFunction::sqrt},
      {"negative", UnaryFunction::negative}, {"absolute", UnaryFunction::absolute}};
  return byName;
}

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

// gelu's tanh form: y = x/2 (1 + tanh(u)), u = sqrt(2/pi) (x + 0.044715 x^3). Hendrycks and Gimpel, 2016.
constexpr double kGeluCubic = 0.044715;
const double kRootTwoOverPi = std::sqrt(2 / std::numbers::pi);

double geluTanhDerivative(double x) {
  const double t = std::tanh(kRootTwoOverPi * (x + kGeluCubic * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * kRootTwoOverPi * (1 + 3 * kGeluCubic * x * x);
}

double geluDerivative(double x) {
  return 0.5 * (1 + std::erf(x / std::numbers::sqrt2)) + x * std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
}

}  // namespace unary_op

UnaryFunction unaryFunctionOf(const Attributes& attributes) {
  using namespace unary_op;
  const std::string& name = attributes.text("function");
  const auto found = functions().find(name);
  if (found == functions().end())
    throwError(ErrorCode::badProject, "there is no function '{}' among the {} of unary", name, functions().size());
  if (found->second == UnaryFunction::gelu && attributes.boolean("approximate", false)) return UnaryFunction::geluTanh;
  return found->second;
}

double unaryAlphaOf(const Attributes& attributes) {
  return attributes.real("alpha", unaryFunctionOf(attributes) == UnaryFunction::leakyRelu ? 0.01 : 1.0);
}

DerivativeFrom unaryDerivativeFrom(const Attributes& attributes) {
  switch (unaryFunctionOf(attributes)) {
    case UnaryFunction::negative:
      return DerivativeFrom::nothing;
    case UnaryFunction::relu:
    case UnaryFunction::selu:
    case UnaryFunction::sigmoid:
    case UnaryFunction::tanh:
    case UnaryFunction::exp:
    case UnaryFunction::sqrt:
      return DerivativeFrom::output;
    // With a negative alpha the sign of y no longer tells the sign of x.
    case UnaryFunction::leakyRelu:
    case UnaryFunction::elu:
      return unaryAlphaOf(attributes) >= 0 ? DerivativeFrom::output : DerivativeFrom::input;
    default:
      return DerivativeFrom::input;
  }
}

double unaryValue(UnaryFunction function, double alpha, double x) {
  using namespace unary_op;
  switch (function) {
    case UnaryFunction::relu:
      return x < 0 ? 0 : x;  // so written, a NaN stays one
    case UnaryFunction::leakyRelu:
      return x > 0 ? x : alpha * x;
    case UnaryFunction::elu:
      return x > 0 ? x : alpha * std::expm1(x);
    case UnaryFunction::selu:
      return kSeluScale * (x > 0 ? x : kSeluAlpha * std::expm1(x));
    case UnaryFunction::gelu:
      return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case UnaryFunction::geluTanh:
      return 0.5 * x * (1 + std::tanh(kRootTwoOverPi * (x + kGeluCubic * x * x * x)));
    case UnaryFunction::silu:
      return x * sigmoid(x);
    case UnaryFunction::sigmoid:
      return sigmoid(x);
    case UnaryFunction::tanh:
      return std::tanh(x);
    case UnaryFunction::exp:
      return std::exp(x);
    case UnaryFunction::log:
      return std::log(x);
    case UnaryFunction::square:
      return x * x;
    case UnaryFunction::sqrt:
      return std::sqrt(x);
    case UnaryFunction::negative:
      return -x;
    case UnaryFunction::absolute:
      return std::abs(x);
  }
  return x;
}

double unaryDerivative(UnaryFunction function, double alpha, double at, DerivativeFrom from) {
  using namespace unary_op;
  const bool fromOutput = from == DerivativeFrom::output;
  switch (function) {
    case UnaryFunction::relu:
      return at > 0 ? 1 : 0;
    case UnaryFunction::leakyRelu:
      return at > 0 ? 1 : alpha;  // alpha >= 0: y has the sign of x
    case UnaryFunction::elu:
      return at > 0 ? 1 : (fromOutput ? at + alpha : alpha * std::exp(at));
    case UnaryFunction::selu:
      return at > 0 ? kSeluScale : at + kSeluScale * kSeluAlpha;
    case UnaryFunction::gelu:
      return geluDerivative(at);
    case UnaryFunction::geluTanh:
      return geluTanhDerivative(at);
    case UnaryFunction::silu:
      return sigmoid(at) * (1 + at * (1 - sigmoid(at)));
    case UnaryFunction::sigmoid:
      return at * (1 - at);
    case UnaryFunction::tanh:
      return 1 - at * at;
    case UnaryFunction::exp:
      return at;
    case UnaryFunction::log:
      return 1 / at;
    case UnaryFunction::square:
      return 2 * at;
    case UnaryFunction::sqrt:
      return 0.5 / at;
    case UnaryFunction::negative:
      return -1;
    case UnaryFunction::absolute:
      return at > 0 ? 1 : (at < 0 ? -1 : 0);
  }
  return 1;
}

namespace unary_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  unaryFunctionOf(attributes);
  return ops::likeFirst(inputs, attributes);
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  const DerivativeFrom from = unaryDerivativeFrom(arguments.attributes);
  const TensorId x = from == DerivativeFrom::input ? arguments.inputs[0] : kNoTensor;
  const TensorId y = from == DerivativeFrom::output ? arguments.outputs[0] : kNoTensor;
  return {builder.add("unary_gradient", {x, y, arguments.outputGradients[0]}, arguments.attributes)};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const UnaryFunction function = unaryFunctionOf(attributes);
  const double alpha = unaryAlphaOf(attributes);
  for (std::size_t i = 0; i < outputs[0].values.size(); ++i)
    outputs[0].values[i] = unaryValue(function, alpha, inputs[0]->values[i]);
}

std::vector<TensorSpec> inferGradient(ops::Specs inputs, const Attributes& attributes) {
  const DerivativeFrom from = unaryDerivativeFrom(attributes);
  for (int i : {0, 1}) {
    const TensorSpec& given = inputs[static_cast<std::size_t>(i)];
    const bool needed = from == (i == 0 ? DerivativeFrom::input : DerivativeFrom::output);
    if (needed && !given.present)
      throwError(ErrorCode::internal, "the gradient of {} needs {}, which is left out", attributes.text("function"),
                 i == 0 ? "x" : "y");
    if (given.present) ops::needSameShape("the activation", given, "dy", inputs[2]);
  }
  return {ops::f32(inputs[2].shape)};
}

void referenceGradient(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const UnaryFunction function = unaryFunctionOf(attributes);
  const DerivativeFrom from = unaryDerivativeFrom(attributes);
  const double alpha = unaryAlphaOf(attributes);
  for (std::size_t i = 0; i < outputs[0].values.size(); ++i) {
    const double at = from == DerivativeFrom::nothing ? 0 : inputs[from == DerivativeFrom::input ? 0 : 1]->values[i];
    outputs[0].values[i] = inputs[2]->values[i] * unaryDerivative(function, alpha, at, from);
  }
}

Pointwise pointwise(const Attributes& attributes) {
  return unaryFunctionOf(attributes) == UnaryFunction::relu ? Pointwise::relu : Pointwise::none;
}

Pointwise pointwiseOfGradient(const Attributes& attributes) {
  return unaryFunctionOf(attributes) == UnaryFunction::relu ? Pointwise::reluGradient : Pointwise::none;
}

}  // namespace unary_op

const OpDefinition& defineUnaryOp() {
  using namespace unary_op;
  static const OpDefinition op{.name = "unary",
                               .infer = infer,
                               .gradient = gradient,
                               .reference = reference,
                               .signature = "x -> y",
                               .reusable = {0},
                               .pointwise = pointwise};
  return op;
}

const OpDefinition& defineUnaryGradientOp() {
  using namespace unary_op;
  static const OpDefinition op{.name = "unary_gradient",
                               .infer = inferGradient,
                               .reference = referenceGradient,
                               .signature = "x?, y?, dy -> dx",
                               .reusable = {2, 1, 0},
                               .pointwise = pointwiseOfGradient};
  return op;
}

}  // namespace loom
