#pragma once
// What passes emit: named by what it does, so that no pass knows an op by name.
#include <vector>

#include "engine/program/builder.h"

namespace loom {

TensorId emitSum(ProgramBuilder& builder, TensorId a, TensorId b);  // of one shape
TensorId emitCopy(ProgramBuilder& builder, TensorId x);

// Sums gradients over the ranks of the group "data", in place; `done` is a new rank-0 tensor. The caller finds its
// place in the program.
Operation exchangeOperation(std::vector<TensorId> gradients, std::int64_t bucket, TensorId done);

// to_i = factor from_i; kNoTensor: copies. The caller finds its place in the program.
Operation scaledOperation(TensorId factor, const std::vector<TensorId>& from, std::vector<TensorId> to);

}  // namespace loom
