#pragma once
// Checks of labels and token indices.
#include <string>

#include "engine/cuda/plan.h"

namespace loom::cuda {

// Before each step, in the host's memory: every number of the i32 tensor `id` must be in [0, limit). Throws
// Error(badData) that names the row of the batch, the number, and what would be right; `what` is "label" or "index". A
// tensor that is made of inputs by moving their numbers is checked in those. Throws Error(badProject) while compiling
// where it is computed in another way.
void checkIndices(Plan& plan, TensorId id, std::int64_t limit, const std::string& what);

}  // namespace loom::cuda
