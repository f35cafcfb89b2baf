#pragma once
// Tensors as their numbers lie in memory, for kernels that go through them in that order.
#include "engine/cuda/kernels/strided.h"
#include "engine/cuda/plan.h"

namespace loom::cuda {

// Where the smaller tensor's number beside element i of the larger one stands; both in this layout. The smaller one's
// extents are the larger one's or 1.
Strided repeatedOver(const Shape& large, const Shape& small, const Layout& layout);
// What a kernel goes over in packs of 16 bytes.
Launch overPacks(std::int64_t count, DataType type);
// An axis that an attribute names, from 0; `otherwise` when it names none.
std::int64_t axisOf(const Plan& plan, TensorId id, const Operation& operation, std::int64_t otherwise);

// A tensor in memory order as outer x extent x inner around one axis.
struct Around {
  std::int64_t outer = 1, extent = 1, inner = 1;
};
Around aroundAxis(const Shape& shape, const Layout& layout, std::int64_t axis);

}  // namespace loom::cuda
