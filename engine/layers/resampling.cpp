#include "engine/layers/resampling.h"

#include "engine/layers/entry_parts.h"

namespace loom {

Shape resampledShape(const Shape& input, const MapOfAxis& mapOf) {
  Shape shape = input;
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(input.rank()); ++axis)
    if (const AxisMap map = mapOf(axis, input[axis]); map.length() > 0) shape[axis] = map.length();
  return shape;
}

TensorId resampled(const LowerArguments& arguments, const MapOfAxis& mapOf) {
  const Shape input = parts::sampleShape(arguments);
  TensorId x = arguments.inputs[0];
  for (std::int64_t axis = 0; axis < static_cast<std::int64_t>(input.rank()); ++axis)
    if (const AxisMap map = mapOf(axis, input[axis]); map.length() > 0)
      x = arguments.builder.add("resample", {x}, attributesOf(map, axis + 1));
  return x;
}

}  // namespace loom
