#pragma once
// Sums, for lowerings: the stages that compute them, in a fixed order of additions.
#include "engine/cuda/kernels/strided.h"
#include "engine/cuda/plan.h"

namespace loom::cuda {

// One axis of what is summed, in memory order: extent, elements from one index to the next, whether it is summed over.
struct SummedAxis {
  std::int64_t extent = 1;
  bool summed = false;
};

// `to` (f32, the axes that stay in their order) = factor * sum of `from` (its Operand's type) over the summed axes.
void appendSum(Plan& plan, const Operand& from, std::span<const SummedAxis> axes, float factor, const Operand& to);
// The same of `count` numbers in f32, into one.
void appendSum(Plan& plan, const Operand& from, std::int64_t count, float factor, const Operand& to);

}  // namespace loom::cuda
