#pragma once
// Sums over the rows of a matrix, and a bias added to each of them.
#include "engine/cuda/plan.h"

namespace loom::cuda {

// to[c] = sum over rows of from[r][c], in f32 and in an order that depends on the extents alone.
void emitColumnSums(Plan& plan, const Operand& from, std::int64_t rows, std::int64_t columns, const Operand& to);
// y[r][c] += bias[c] (in f32), then a ReLU where it is asked for.
void emitAddBias(Plan& plan, const Operand& y, std::int64_t rows, std::int64_t columns, const Operand& bias, bool relu);

}  // namespace loom::cuda
