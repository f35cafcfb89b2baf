#pragma once
// Layers of several inputs and one elementwise function. Shapes stretch as in ONNX and NumPy: counted from the last
// axis, extents are equal or 1, and a missing axis is one of extent 1.
#include "engine/layers/layer.h"

namespace loom {

// The shape to which all stretch. Throws LayerError naming all of them.
Shape stretchedShape(std::span<const Shape> inputs);
std::vector<Shape> elementwiseShapes(const ShapeArguments& arguments);
// Of any number of inputs, whose order is free.
std::vector<TensorId> lowerElementwise(const LowerArguments& arguments, const char* function);
// f(a, b).
TensorId elementwise(const LowerArguments& arguments, const char* function, TensorId a, TensorId b);
// The sample with axes of extent 1 before, as many as `full` has more.
TensorId alignedTo(const LowerArguments& arguments, TensorId x, const Shape& full);

}  // namespace loom
