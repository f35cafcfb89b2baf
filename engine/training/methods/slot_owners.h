#pragma once
// Which rank keeps a tensor's optimizer state where ranks share it (ZeRO 1).
#include <cstdint>
#include <span>
#include <vector>

#include "engine/training/methods/method.h"

namespace loom {

// The rank of each tensor: the largest first, each to the rank that has least so far. Negative: every rank has it,
// which is answered by -1.
std::vector<int> ownersOf(const std::vector<std::int64_t>& elements, int ranks);

// Whether a rank that steps its own tensors alone needs no other's gradients either: not where a rule with products
// clips them by all, or a method works on them.
bool needsOwnGradientsAlone(std::span<const MethodChoice> methods, bool ruleHasProducts);

}  // namespace loom
