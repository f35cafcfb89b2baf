#pragma once
// Which rank keeps a tensor's optimizer state where ranks share it (ZeRO 1).
#include <cstdint>
#include <vector>

namespace loom {

// The rank of each tensor: the largest first, each to the rank that has least so far.
std::vector<int> ownersOf(const std::vector<std::int64_t>& elements, int ranks);

}  // namespace loom
