// Shapes stretched to each other, axes and cuts as operators name them: what rules of shapes, folding and translation
// share.
#include "engine/exchange/onnx/shape_parts.h"

#include "engine/base/error.h"

namespace loom::onnx_file {

std::optional<Extents> stretched(const Extents& a, const Extents& b) {
  Extents result(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return {};
    result[result.size() - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

std::size_t axisIn(std::int64_t axis, std::size_t rank) {
  const auto extents = static_cast<std::int64_t>(rank);
  if (axis < -extents || axis >= extents)
    throwError(ErrorCode::badData, "it names axis {} of a value with {}", axis, rank);
  return static_cast<std::size_t>(axis < 0 ? axis + extents : axis);
}

std::optional<std::vector<std::int64_t>> wholesOf(const Constant* constant) {
  if (!constant || elementsOf(constant->extents) > 4096) return {};
  std::vector<std::int64_t> numbers;
  for (std::int64_t i = 0; i < elementsOf(constant->extents); ++i)
    numbers.push_back(constant->whole(static_cast<std::size_t>(i)));
  return numbers;
}

std::optional<std::vector<std::int64_t>> axesOf(const OnnxNode& node, const Facts& facts, std::size_t input) {
  if (node.attributes.count("axes")) return node.integers("axes");
  return node.input(input).empty() ? std::nullopt : wholesOf(facts.constant(node.input(input)));
}

std::optional<std::vector<Cut>> cutsOf(const OnnxNode& node, const std::vector<const Constant*>& inputs,
                                       const Extents& extents, int opset) {
  constexpr std::int64_t kFar = std::int64_t{1} << 60;  // beyond any extent: such a step takes one element
  std::vector<std::int64_t> starts = node.integers("starts"), ends = node.integers("ends"),
                            axes = node.integers("axes"), steps;
  if (opset >= 10) {
    const auto given = [&](std::size_t i, std::vector<std::int64_t>& to) {
      if (i >= inputs.size() || node.input(i).empty()) return i > 2;  // axes and steps may be left out
      const auto numbers = wholesOf(inputs[i]);
      if (numbers) to = *numbers;
      return numbers.has_value();
    };
    if (!given(1, starts) || !given(2, ends) || !given(3, axes) || !given(4, steps)) return {};
  }
  if (axes.empty())
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    throwError(ErrorCode::badData, "its starts, ends, axes and steps are {}, {}, {} and {} numbers", starts.size(),
               ends.size(), axes.size(), steps.size());
  std::vector<Cut> cuts;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = axisIn(axes[i], extents.size());
    const std::int64_t extent = extents[axis], step = std::clamp(steps[i], -kFar, kFar);
    if (step == 0) throwError(ErrorCode::badData, "it steps by 0");
    const auto place = [&](std::int64_t given, std::int64_t low, std::int64_t high) {
      return std::clamp(given < 0 ? given + extent : given, low, high);
    };
    Cut cut{.axis = axis, .step = step};
    if (step > 0) {
      cut.start = place(starts[i], 0, extent);
      cut.length = std::max<std::int64_t>(0, (place(ends[i], 0, extent) - cut.start + step - 1) / step);
    } else {
      cut.start = place(starts[i], 0, extent - 1);
      cut.length = std::max<std::int64_t>(0, (place(ends[i], -1, extent - 1) - cut.start + step + 1) / step);
    }
    cuts.push_back(cut);
  }
  return cuts;
}

}  // namespace loom::onnx_file
