// Numbers by themselves: sums, comparisons, functions.
#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "engine/base/error.h"
#include "engine/exchange/onnx/fold_parts.h"

namespace loom::onnx_file {

std::shared_ptr<Constant> made(Constant::Kind kind, Extents extents, std::size_t stored) {
  auto constant = std::make_shared<Constant>();
  constant->kind = kind;
  constant->extents = std::move(extents);
  if (kind == Constant::Kind::real)
    constant->reals.resize(stored);
  else
    constant->wholes.resize(stored);
  return constant;
}

void put(Constant& constant, std::size_t i, double value) {
  if (constant.kind == Constant::Kind::real)
    constant.reals[i] = static_cast<float>(value);
  else
    constant.wholes[i] = std::abs(value) < 9e18 ? static_cast<std::int64_t>(value) : 0;
}

namespace {

using Kind = Constant::Kind;

using Binary = double (*)(double, double);
const std::unordered_map<std::string, Binary>& binaries() {
  static const std::unordered_map<std::string, Binary> table{
      {"Add", [](double a, double b) { return a + b; }},
      {"Sub", [](double a, double b) { return a - b; }},
      {"Mul", [](double a, double b) { return a * b; }},
      {"Div", [](double a, double b) { return a / b; }},
      {"Pow", [](double a, double b) { return std::pow(a, b); }},
      {"Min", [](double a, double b) { return std::min(a, b); }},
      {"Max", [](double a, double b) { return std::max(a, b); }},
      {"Mod", [](double a, double b) { return a - b * std::floor(a / b); }},
      {"loom.Fmod", [](double a, double b) { return std::fmod(a, b); }},  // Mod with its attribute fmod
      {"Equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
      {"Less", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
      {"LessOrEqual", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
      {"Greater", [](double a, double b) { return a > b ? 1.0 : 0.0; }},
      {"GreaterOrEqual", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
      {"And", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
      {"Or", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }},
      {"Xor", [](double a, double b) { return (a != 0) != (b != 0) ? 1.0 : 0.0; }}};
  return table;
}

using Unary = double (*)(double);
const std::unordered_map<std::string, Unary>& unaries() {
  static const std::unordered_map<std::string, Unary> table{
      {"Neg", [](double x) { return -x; }},
      {"Abs", [](double x) { return std::abs(x); }},
      {"Sqrt", [](double x) { return std::sqrt(x); }},
      {"Reciprocal", [](double x) { return 1 / x; }},
      {"Exp", [](double x) { return std::exp(x); }},
      {"Log", [](double x) { return std::log(x); }},
      {"Floor", [](double x) { return std::floor(x); }},
      {"Ceil", [](double x) { return std::ceil(x); }},
      {"Round", [](double x) { return std::nearbyint(x); }},
      {"Sin", [](double x) { return std::sin(x); }},
      {"Cos", [](double x) { return std::cos(x); }},
      {"Tanh", [](double x) { return std::tanh(x); }},
      {"Erf", [](double x) { return std::erf(x); }},
      {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Softplus", [](double x) { return x > 30 ? x : std::log1p(std::exp(x)); }},
      {"Softsign", [](double x) { return x / (1 + std::abs(x)); }},
      {"HardSwish", [](double x) { return x * std::clamp(x / 6 + 0.5, 0.0, 1.0); }},
      {"Relu", [](double x) { return x < 0 ? 0 : x; }},
      {"Not", [](double x) { return x == 0 ? 1.0 : 0.0; }},
      {"Sign", [](double x) { return x > 0   ? 1.0
                                     : x < 0 ? -1.0
                                             : 0.0; }}};
  return table;
}

bool answersTruth(const std::string& op) {
  for (const char* truth : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor", "Not"})
    if (op == truth) return true;
  return false;
}

// Wraps around as the runtimes do.
std::int64_t ofWholes(const std::string& op, std::int64_t a, std::int64_t b) {
  const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
  if (op == "Add") return static_cast<std::int64_t>(x + y);
  if (op == "Sub") return static_cast<std::int64_t>(x - y);
  if (op == "Mul") return static_cast<std::int64_t>(x * y);
  if (b == 0) throwError(ErrorCode::badData, "it divides by zero");
  return b == -1 ? static_cast<std::int64_t>(0 - x) : a / b;
}

ConstantPointer binary(const std::string& op, Binary function, const std::vector<const Constant*>& in,
                       const std::function<std::size_t(const Extents&, bool)>& room) {
  Extents extents = in[0]->extents;
  bool uniform = true, real = false;
  for (const Constant* input : in) {
    const auto together = stretched(extents, input->extents);
    if (!together) throwError(ErrorCode::badData, "the shapes of its inputs do not fit together");
    extents = *together;
    uniform = uniform && input->uniform();
    real = real || input->kind == Kind::real;
  }
  const bool exact = !real && (op == "Add" || op == "Sub" || op == "Mul");
  const bool division = !real && op == "Div";
  const Kind kind = answersTruth(op) ? Kind::truth : real ? Kind::real : Kind::whole;
  auto result = made(kind, extents, room(extents, uniform));
  std::vector<Walk> walks;
  for (const Constant* input : in) walks.emplace_back(extents, input->extents);
  for (std::size_t i = 0; i < result->stored(); ++i) {
    double value = in[0]->at(walks[0].place());
    auto whole = real ? 0 : in[0]->whole(walks[0].place());
    for (std::size_t k = 1; k < in.size(); ++k) {
      const std::size_t place = walks[k].place();
      if (exact || division) {
        whole = ofWholes(op, whole, in[k]->whole(place));
      } else {
        value = function(value, in[k]->at(place));
      }
    }
    if (exact || division)
      result->wholes[i] = whole;
    else
      put(*result, i, value);
    for (Walk& walk : walks) walk.next();
  }
  return result;
}

ConstantPointer unary(const std::string& op, Unary function, const Constant& x) {
  auto result = made(op == "Not" ? Kind::truth : x.kind, x.extents, x.stored());
  for (std::size_t i = 0; i < result->stored(); ++i) put(*result, i, function(x.at(i)));
  return result;
}

}  // namespace

bool foldsElement(const std::string& op) {
  return binaries().count(op) > 0 || unaries().count(op) > 0;
}

ConstantPointer foldElement(const std::string& op, const std::vector<const Constant*>& inputs,
                            const std::function<std::size_t(const Extents&, bool)>& room) {
  if (const auto found = unaries().find(op); found != unaries().end()) return unary(op, found->second, *inputs[0]);
  return binary(op, binaries().at(op), inputs, room);
}

}  // namespace loom::onnx_file
