#pragma once
// Rows of neighbouring numbers, each the work of a warp or of a block.
#include "engine/cuda/plan.h"

namespace loom::cuda {

// Rows longer than this are a block's work each (RowTeam in kernels/row_team.cuh).
inline bool takesBlock(std::int64_t rowLength) {
  return rowLength > 1024;
}
Launch overRows(std::int64_t rows, std::int64_t rowLength);

}  // namespace loom::cuda
