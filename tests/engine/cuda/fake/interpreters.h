#pragma once
// What the vendors' libraries would compute, by their documented meaning: sums in double, each result rounded once.
#include <memory>

#include "engine/cuda/calls.h"

namespace loom::cuda::fake {

// Throws Error(internal) for what cuBLASLt would refuse: leading dimensions that are too small, a result overwritten by
// its own batch.
void interpret(const MatmulCall& call);

// Throws Error(device) for a graph that is none: tensors that it lacks, extents that do not fit together, virtual
// tensors that nothing computes, types that it does not have.
std::shared_ptr<const DnnPlan> planOf(const DnnGraph& graph, std::size_t workspaceLimit);
void interpret(const DnnCall& call);

// One number of this type. Both throw Error(internal) for a type that is no float.
double loadNumber(const std::byte* from, DataType type, std::int64_t index);
void storeNumber(std::byte* to, DataType type, std::int64_t index, double value);
// To the 11 bits of TF32, to the nearest.
double roundedToTf32(double value);

}  // namespace loom::cuda::fake
