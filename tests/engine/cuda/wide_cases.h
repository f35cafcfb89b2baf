#pragma once
// Cases that the CPU has no need of: sizes at which kernels change their way, whole packs of 16 bytes, rows that are a
// block's work, sums in slices, sorts of several digits and tiles.
#include "tests/engine/ops/op_cases.h"

namespace loom::cases {

std::vector<OpCase> wideCases();
// Of them.
std::vector<OpCase> wideNormalizations();

}  // namespace loom::cases
