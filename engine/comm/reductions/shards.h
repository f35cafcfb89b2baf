#pragma once

namespace loom {

// Of a deterministic step without virtual ranks: 1, 2, 3, 4, 6, 8, 12 ranks take equally many.
inline constexpr int kDeterministicShards = 24;

}  // namespace loom
