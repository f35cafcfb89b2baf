#pragma once
// The backward part of a program, by reverse mode: each op emits its own gradient.
#include <functional>
#include <span>
#include <vector>

#include "engine/program/builder.h"

namespace loom {

// d(sum of results of kind "loss") / d(each target), each times the scalar kLossScaleScalar; kNoTensor where nothing
// flows. Computes only what leads to a target. Contributions are summed in a fixed order: that of the reversed program.
std::vector<TensorId> gradientsOf(ProgramBuilder& builder, std::span<const TensorId> targets);

// Appends the backward part for d(sum of results of kind "loss") / d(parameters chosen by `wanted`), each times the
// scalar kLossScaleScalar; every wanted parameter that takes part gets a tensor of role parameterGradient. `wanted`
// null = all that are no state. No operation reads a parameterGradient, so a backend may add to it in place. Removes
// dead code at the end (passes.h); tensor ids stay as they are.
void differentiate(ProgramBuilder& builder, const std::function<bool(const Parameter&)>& wanted = {});

}  // namespace loom
