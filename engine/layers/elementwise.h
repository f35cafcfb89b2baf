#pragma once
// Add and Multiply: several inputs, one elementwise function, extents of 1 stretched.
#include "engine/layers/layer.h"

namespace loom {

std::vector<Shape> elementwiseShapes(const ShapeArguments& arguments);
std::vector<TensorId> lowerElementwise(const LowerArguments& arguments, const char* function);

}  // namespace loom
