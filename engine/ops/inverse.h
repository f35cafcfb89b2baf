#pragma once
#include <cstdint>

namespace loom::ops {

// Rows of a matrix that the op `inverse` takes: what a GPU's block remembers of its pivots.
inline constexpr std::int64_t kWidestInverse = 1024;

}  // namespace loom::ops
