#include "engine/layers/elementwise.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace {

// The shape to which all inputs stretch: the largest extent on each axis.
Shape stretched(std::span<const Shape> inputs) {
  Shape shape = inputs[0];
  const auto mismatch = [&] {
    std::string list;
    for (std::size_t i = 0; i < inputs.size(); ++i)
      list += (i == 0 ? "" : i + 1 == inputs.size() ? " and " : ", ") + parts::shapeText(inputs[i]);
    throw LayerError(fmt::format("the inputs must have equal shapes, but are {}", list), "");
  };
  for (const Shape& input : inputs) {
    if (input.rank() != shape.rank()) mismatch();
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
      std::int64_t& extent = shape[static_cast<std::int64_t>(axis)];
      const std::int64_t other = input.extents()[axis];
      if (extent == 1) extent = other;
      if (other != extent && other != 1) mismatch();
    }
  }
  if (std::find(inputs.begin(), inputs.end(), shape) == inputs.end()) mismatch();
  return shape;
}

}  // namespace

std::vector<Shape> elementwiseShapes(const ShapeArguments& arguments) {
  return {stretched(arguments.inputs)};
}

std::vector<TensorId> lowerElementwise(const LowerArguments& arguments, const char* function) {
  std::vector<Shape> inputs;
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i) inputs.push_back(parts::sampleShape(arguments, i));
  // The op stretches its second input only; the order of a sum or a product is free, so a full one comes first.
  const auto full =
      static_cast<std::size_t>(std::find(inputs.begin(), inputs.end(), stretched(inputs)) - inputs.begin());
  TensorId result = arguments.inputs[full];
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i)
    if (i != full)
      result = arguments.builder.add("binary", {result, arguments.inputs[i]}, {{"function", std::string(function)}});
  return {result};
}

}  // namespace loom
