#pragma once
// Layers that pick, repeat, pad or interpolate along axes: a map for each axis of a sample, which the op `resample`
// follows.
#include <functional>

#include "engine/layers/layer.h"
#include "engine/ops/resample.h"

namespace loom {

// The map for an axis of a sample (from 0) with this extent; one without rows leaves the axis as it is. May throw
// LayerError.
using MapOfAxis = std::function<AxisMap(std::int64_t axis, std::int64_t extent)>;
inline AxisMap unchanged() {
  return {};
}

Shape resampledShape(const Shape& input, const MapOfAxis& mapOf);
TensorId resampled(const LowerArguments& arguments, const MapOfAxis& mapOf);

}  // namespace loom
