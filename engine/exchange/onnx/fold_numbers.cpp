// Constants whose numbers are calculated one by one, or over the last axes.
#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/exchange/onnx/fold_parts.h"

namespace loom::onnx_file {
namespace {

using Kind = Constant::Kind;

const Constant* at(const std::vector<const Constant*>& inputs, std::size_t i) {
  return i < inputs.size() ? inputs[i] : nullptr;
}

// A number without extents, or a list.
template <class T>
ConstantPointer listed(Kind kind, bool single, const std::vector<T>& numbers) {
  auto result = made(kind, single ? Extents{} : Extents{static_cast<std::int64_t>(numbers.size())}, numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if constexpr (std::is_same_v<T, double>)
      put(*result, i, numbers[i]);
    else
      result->wholes[i] = numbers[i];
  }
  return result;
}

}  // namespace

ConstantPointer foldConstant(const OnnxNode& node) {
  for (const auto& [key, attribute] : node.attributes) {
    if (key == "value" && attribute.tensor) return attribute.tensor;
    if (key == "value_float") return listed<double>(Kind::real, true, {attribute.real});
    if (key == "value_floats") return listed(Kind::real, false, attribute.reals);
    if (key == "value_int") return listed<std::int64_t>(Kind::whole, true, {attribute.integer});
    if (key == "value_ints") return listed(Kind::whole, false, attribute.integers);
  }
  return nullptr;
}

ConstantPointer foldBounded(const OnnxNode& node, const std::vector<const Constant*>& inputs, int opset) {
  const Constant* x = at(inputs, 0);
  if (!x) return nullptr;
  const bool sigmoid = node.op == "HardSigmoid";
  const auto bound = [&](std::size_t input, const char* key, double otherwise) {
    if (sigmoid) return otherwise;
    if (opset < 11) return node.real(key, input == 1 ? -INFINITY : INFINITY);
    const Constant* given = at(inputs, input);
    return given && given->stored() > 0 ? given->at(0) : input == 1 ? -INFINITY : INFINITY;
  };
  const double low = bound(1, "min", 0), high = bound(2, "max", 1), alpha = node.real("alpha", 0.2),
               beta = node.real("beta", 0.5);
  auto result = made(x->kind, x->extents, x->stored());
  for (std::size_t i = 0; i < result->stored(); ++i)
    put(*result, i, std::min(std::max(sigmoid ? alpha * x->at(i) + beta : x->at(i), low), high));
  return result;
}

ConstantPointer foldReduction(const std::string& op, const Constant& x, const Extents& extents, std::int64_t most) {
  if (elementsOf(extents) == 0 || elementsOf(x.extents) == 0 || elementsOf(x.extents) > most) return nullptr;
  // Everything to one number, as shape arithmetic does, or the last axes, as of a weight by its outputs.
  Extents kept = extents;
  while (!kept.empty() && kept.back() == 1) kept.pop_back();
  if (extents.size() != x.extents.size() && !kept.empty())
    return nullptr;  // which axes went does not follow from their extents
  if (kept.size() > x.extents.size() || !std::equal(kept.begin(), kept.end(), x.extents.begin())) return nullptr;
  const std::int64_t rows = elementsOf(kept), each = elementsOf(x.extents) / rows;
  const bool isMean = op == "ReduceMean";
  if (isMean && x.kind != Kind::real) return nullptr;
  auto constant = made(x.kind, extents, static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    double result = x.at(static_cast<std::size_t>(row * each));
    for (std::int64_t i = 1; i < each; ++i) {
      const double value = x.at(static_cast<std::size_t>(row * each + i));
      result = op == "ReduceProd"            ? result * value
               : op == "ReduceSum" || isMean ? result + value
               : op == "ReduceMax"           ? std::max(result, value)
                                             : std::min(result, value);
    }
    put(*constant, static_cast<std::size_t>(row), isMean ? result / static_cast<double>(each) : result);
  }
  return constant;
}

ConstantPointer foldDequantized(const OnnxNode& node, const std::vector<const Constant*>& inputs, std::int64_t most) {
  const Constant *x = at(inputs, 0), *scale = at(inputs, 1), *zero = at(inputs, 2);
  if (!x || !scale || (inputs.size() > 2 && !zero) || x->extents.empty()) return nullptr;
  const std::size_t axis = axisIn(node.integer("axis", 1), x->extents.size() + (x->extents.size() == 1 ? 1 : 0));
  const bool one = elementsOf(scale->extents) == 1;
  if (!one && (axis >= x->extents.size() || elementsOf(scale->extents) != x->extents[axis])) return nullptr;
  const std::int64_t inner =
      one ? 1 : elementsOf({x->extents.begin() + static_cast<std::ptrdiff_t>(axis) + 1, x->extents.end()});
  auto result = made(Kind::real, x->extents, storedOf(x->extents, false, most));
  for (std::size_t i = 0; i < result->stored(); ++i) {
    const auto place = one ? 0 : static_cast<std::size_t>(static_cast<std::int64_t>(i) / inner % x->extents[axis]);
    put(*result, i, (x->at(i) - (zero ? zero->at(place) : 0)) * scale->at(place));
  }
  return result;
}

}  // namespace loom::onnx_file
