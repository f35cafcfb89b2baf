#pragma once
// Weights and activations of two values.
#include "engine/layers/layer.h"

namespace loom::parts {

// The values of `forward` with the gradient of x, which has the same shape.
TensorId straightThrough(const LowerArguments& arguments, TensorId forward, TensorId x);
// What a layer calculates with in the place of its weight, outputs first: the weight itself where its entry has no
// field `form`.
TensorId weightInUse(const LowerArguments& arguments, TensorId weight);

}  // namespace loom::parts
