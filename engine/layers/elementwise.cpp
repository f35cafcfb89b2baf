#include "engine/layers/elementwise.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/layers/entry_parts.h"
#include "engine/layers/layer_error.h"

namespace loom {
namespace {

// With axes of extent 1 before, up to this rank.
Shape aligned(const Shape& shape, std::size_t rank) {
  std::vector<std::int64_t> extents(rank - shape.rank(), 1);
  extents.insert(extents.end(), shape.begin(), shape.end());
  return Shape(std::move(extents));
}

Shape sampleOf(const LowerArguments& arguments, TensorId x) {
  return arguments.builder.shape(x).withoutFirst();
}

}  // namespace

Shape stretchedShape(std::span<const Shape> inputs) {
  std::size_t rank = 0;
  for (const Shape& input : inputs) rank = std::max(rank, input.rank());
  Shape shape(std::vector<std::int64_t>(rank, 1));
  for (const Shape& input : inputs) {
    const Shape full = aligned(input, rank);
    for (std::size_t axis = 0; axis < rank; ++axis) {
      std::int64_t& extent = shape[static_cast<std::int64_t>(axis)];
      const std::int64_t other = full.extents()[axis];
      if (extent == 1) extent = other;
      if (other == extent || other == 1) continue;
      std::string list;
      for (std::size_t i = 0; i < inputs.size(); ++i)
        list += (i == 0 ? "" : i + 1 == inputs.size() ? " and " : ", ") + parts::shapeText(inputs[i]);
      throw LayerError(
          fmt::format("the inputs must have equal shapes, but are {} (counted from the last axis, an extent of 1 "
                      "stretches; {} does not fit {})",
                      list, other, extent),
          "");
    }
  }
  return shape;
}

std::vector<Shape> elementwiseShapes(const ShapeArguments& arguments) {
  return {stretchedShape(arguments.inputs)};
}

TensorId alignedTo(const LowerArguments& arguments, TensorId x, const Shape& full) {
  return parts::reshaped(arguments, x, aligned(sampleOf(arguments, x), full.rank()));
}

TensorId elementwise(const LowerArguments& arguments, const char* function, TensorId a, TensorId b) {
  const Shape shapes[] = {sampleOf(arguments, a), sampleOf(arguments, b)};
  const Shape full = stretchedShape(shapes);
  // The op stretches its second input only.
  a = parts::stretchedTo(arguments, alignedTo(arguments, a, full), full);
  return parts::binary(arguments, function, a, alignedTo(arguments, b, full));
}

std::vector<TensorId> lowerElementwise(const LowerArguments& arguments, const char* function) {
  std::vector<Shape> inputs;
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i) inputs.push_back(parts::sampleShape(arguments, i));
  // A full one comes first where there is one, so that nothing is stretched in memory.
  const Shape full = stretchedShape(inputs);
  const auto found = std::find(inputs.begin(), inputs.end(), full);
  const auto first = static_cast<std::size_t>(found == inputs.end() ? 0 : found - inputs.begin());
  TensorId result = arguments.inputs[first];
  for (std::size_t i = 0; i < arguments.inputs.size(); ++i)
    if (i != first) result = elementwise(arguments, function, result, arguments.inputs[i]);
  return {result};
}

}  // namespace loom
