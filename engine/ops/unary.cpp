// unary: y = f(x) elementwise, and unary_gradient: dx = dy f'(x).
#include "engine/ops/unary.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "engine/ops/support.h"

namespace loom {
namespace unary_op {

// What the derivative is computed from; steps have none.
struct Row {
  UnaryFunction function;
  DerivativeFrom from = DerivativeFrom::input;
  bool needsAllBits = false;
  bool isStep = false;
};

constexpr DerivativeFrom kFromOutput = DerivativeFrom::output, kFromInput = DerivativeFrom::input;

const std::map<std::string, Row, std::less<>>& functions() {
  using enum UnaryFunction;
  static const std::map<std::string, Row, std::less<>> byName{{"relu", {relu, kFromOutput}},
                                                              {"leaky_relu", {leakyRelu, kFromOutput}},
                                                              {"elu", {elu, kFromOutput}},
                                                              {"selu", {selu, kFromOutput}},
                                                              {"gelu", {gelu}},
                                                              {"silu", {silu}},
                                                              {"sigmoid", {UnaryFunction::sigmoid, kFromOutput}},
                                                              {"tanh", {tanh, kFromOutput}},
                                                              {"exp", {exp, kFromOutput, true}},
                                                              {"log", {log, kFromInput, true}},
                                                              {"square", {square, kFromInput, true}},
                                                              {"sqrt", {sqrt, kFromOutput, true}},
                                                              {"negative", {negative, DerivativeFrom::nothing}},
                                                              {"absolute", {absolute}},
                                                              {"reciprocal", {reciprocal, kFromOutput, true}},
                                                              {"reciprocal_sqrt", {reciprocalSqrt, kFromOutput, true}},
                                                              {"clamp", {clamp, kFromOutput}},
                                                              {"hard_sigmoid", {hardSigmoid, kFromOutput}},
                                                              {"hard_swish", {hardSwish}},
                                                              {"softplus", {softplus}},
                                                              {"softsign", {softsign}},
                                                              {"erf", {erf}},
                                                              {"sign", {sign, kFromInput, true, true}},
                                                              {"floor", {floor, kFromInput, true, true}},
                                                              {"ceil", {ceil, kFromInput, true, true}},
                                                              {"round", {round, kFromInput, true, true}},
                                                              {"sin", {sin}},
                                                              {"cos", {cos}},
                                                              {"tan", {tan, kFromOutput, true}},
                                                              {"asin", {asin, kFromInput, true}},
                                                              {"acos", {acos, kFromInput, true}},
                                                              {"atan", {atan}},
                                                              {"sinh", {sinh, kFromInput, true}},
                                                              {"cosh", {cosh, kFromInput, true}},
                                                              {"asinh", {asinh}},
                                                              {"acosh", {acosh, kFromInput, true}},
                                                              {"atanh", {atanh, kFromInput, true}}};
  return byName;
}

const Row& rowOf(const Attributes& attributes) {
  const std::string& name = attributes.text("function");
  const auto found = functions().find(name);
  if (found == functions().end())
    throwError(ErrorCode::badProject, "there is no function '{}' among the {} of unary", name, functions().size());
  return found->second;
}

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

// Between 0 and 1; a NaN stays one.
double clipped(double x) {
  return x < 0 ? 0 : (x > 1 ? 1 : x);
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
  const UnaryFunction function = unary_op::rowOf(attributes).function;
  return function == UnaryFunction::gelu && attributes.boolean("approximate", false) ? UnaryFunction::geluTanh
                                                                                     : function;
}

UnaryNumbers unaryNumbersOf(const Attributes& attributes) {
  UnaryNumbers absent;
  switch (unaryFunctionOf(attributes)) {
    case UnaryFunction::leakyRelu:
      absent = {0.01};
      break;
    case UnaryFunction::clamp:
      absent = {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
      break;
    case UnaryFunction::hardSigmoid:
    case UnaryFunction::hardSwish:
      absent = {1.0 / 6, 0.5};
      break;
    default:
      break;
  }
  return {attributes.real("alpha", absent.alpha), attributes.real("beta", absent.beta)};
}

DerivativeFrom unaryDerivativeFrom(const Attributes& attributes) {
  const unary_op::Row& row = unary_op::rowOf(attributes);
  // With a negative alpha the sign of y no longer tells the sign of x.
  const bool bent = row.function == UnaryFunction::leakyRelu || row.function == UnaryFunction::elu;
  return bent && unaryNumbersOf(attributes).alpha < 0 ? DerivativeFrom::input : row.from;
}

bool unaryNeedsAllBits(const Attributes& attributes) {
  return unary_op::rowOf(attributes).needsAllBits;
}

double unaryValue(UnaryFunction function, const UnaryNumbers& numbers, double x) {
  using namespace unary_op;
  const auto [alpha, beta] = numbers;
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
    case UnaryFunction::reciprocal:
      return 1 / x;
    case UnaryFunction::reciprocalSqrt:
      return 1 / std::sqrt(x);
    case UnaryFunction::clamp:
      return x < alpha ? alpha : (x > beta ? beta : x);
    case UnaryFunction::hardSigmoid:
      return clipped(alpha * x + beta);
    case UnaryFunction::hardSwish:
      return x * clipped(alpha * x + beta);
    case UnaryFunction::softplus:  // of the magnitude, so that nothing overflows
      return (x < 0 ? 0 : x) + std::log1p(std::exp(-std::abs(alpha * x))) / alpha;
    case UnaryFunction::softsign:
      return x / (1 + std::abs(x));
    case UnaryFunction::erf:
      return std::erf(x);
    case UnaryFunction::sign:
      return x > 0 ? 1 : (x < 0 ? -1 : x);
    case UnaryFunction::floor:
      return std::floor(x);
    case UnaryFunction::ceil:
      return std::ceil(x);
    case UnaryFunction::round:
      return std::nearbyint(x);
    case UnaryFunction::sin:
      return std::sin(x);
    case UnaryFunction::cos:
      return std::cos(x);
    case UnaryFunction::tan:
      return std::tan(x);
    case UnaryFunction::asin:
      return std::asin(x);
    case UnaryFunction::acos:
      return std::acos(x);
    case UnaryFunction::atan:
      return std::atan(x);
    case UnaryFunction::sinh:
      return std::sinh(x);
    case UnaryFunction::cosh:
      return std::cosh(x);
    case UnaryFunction::asinh:
      return std::asinh(x);
    case UnaryFunction::acosh:
      return std::acosh(x);
    case UnaryFunction::atanh:
      return std::atanh(x);
  }
  return x;
}

double unaryDerivative(UnaryFunction function, const UnaryNumbers& numbers, double at, DerivativeFrom from) {
  using namespace unary_op;
  const auto [alpha, beta] = numbers;
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
    case UnaryFunction::reciprocal:
      return -at * at;
    case UnaryFunction::reciprocalSqrt:
      return -0.5 * at * at * at;
    case UnaryFunction::clamp:
      return at > alpha && at < beta ? 1 : 0;
    case UnaryFunction::hardSigmoid:
      return at > 0 && at < 1 ? alpha : 0;
    case UnaryFunction::hardSwish: {
      const double share = alpha * at + beta;
      return clipped(share) + (share > 0 && share < 1 ? alpha * at : 0);
    }
    case UnaryFunction::softplus:
      return sigmoid(alpha * at);
    case UnaryFunction::softsign:
      return 1 / ((1 + std::abs(at)) * (1 + std::abs(at)));
    case UnaryFunction::erf:
      return 2 / std::sqrt(std::numbers::pi) * std::exp(-at * at);
    case UnaryFunction::sign:
    case UnaryFunction::floor:
    case UnaryFunction::ceil:
    case UnaryFunction::round:
      return 0;
    case UnaryFunction::sin:
      return std::cos(at);
    case UnaryFunction::cos:
      return -std::sin(at);
    case UnaryFunction::tan:
      return 1 + at * at;
    case UnaryFunction::asin:
      return 1 / std::sqrt(1 - at * at);
    case UnaryFunction::acos:
      return -1 / std::sqrt(1 - at * at);
    case UnaryFunction::atan:
      return 1 / (1 + at * at);
    case UnaryFunction::sinh:
      return std::cosh(at);
    case UnaryFunction::cosh:
      return std::sinh(at);
    case UnaryFunction::asinh:
      return 1 / std::sqrt(at * at + 1);
    case UnaryFunction::acosh:
      return 1 / std::sqrt(at * at - 1);
    case UnaryFunction::atanh:
      return 1 / (1 - at * at);
  }
  return 1;
}

namespace unary_op {

std::vector<TensorSpec> infer(ops::Specs inputs, const Attributes& attributes) {
  unaryFunctionOf(attributes);
  return ops::likeFirst(inputs, attributes);
}

ops::Gradients gradient(ProgramBuilder& builder, const GradientArguments& arguments) {
  if (rowOf(arguments.attributes).isStep) return {kNoTensor};  // 0 wherever there is one
  const DerivativeFrom from = unaryDerivativeFrom(arguments.attributes);
  const TensorId x = from == DerivativeFrom::input ? arguments.inputs[0] : kNoTensor;
  const TensorId y = from == DerivativeFrom::output ? arguments.outputs[0] : kNoTensor;
  return {builder.add("unary_gradient", {x, y, arguments.outputGradients[0]}, arguments.attributes)};
}

void reference(ops::References inputs, ops::Outputs outputs, const Attributes& attributes) {
  const UnaryFunction function = unaryFunctionOf(attributes);
  const UnaryNumbers numbers = unaryNumbersOf(attributes);
  for (std::size_t i = 0; i < outputs[0].values.size(); ++i)
    outputs[0].values[i] = unaryValue(function, numbers, inputs[0]->values[i]);
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
  const UnaryNumbers numbers = unaryNumbersOf(attributes);
  for (std::size_t i = 0; i < outputs[0].values.size(); ++i) {
    const double at = from == DerivativeFrom::nothing ? 0 : inputs[from == DerivativeFrom::input ? 0 : 1]->values[i];
    outputs[0].values[i] = inputs[2]->values[i] * unaryDerivative(function, numbers, at, from);
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
