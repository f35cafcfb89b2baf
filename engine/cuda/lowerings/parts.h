#pragma once
// Buffers of a lowering's own, parts of others, and copies between them.
#include "engine/cuda/kernels/convert.h"
#include "engine/cuda/plan.h"

namespace loom::cuda {

// During this operation.
Operand scratchOf(Plan& plan, std::int64_t elements, DataType type);
// `elements` numbers from `first` on. What is left out stays so.
Operand part(const Operand& whole, std::int64_t first, std::int64_t elements);

// All of `to`, from the places of `from` that `how` tells; counts and types are filled in here.
void emitConversion(Plan& plan, const Operand& from, const Operand& to, ConvertArguments how = {});

}  // namespace loom::cuda
