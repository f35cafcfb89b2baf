#pragma once
// Blocks of A as matrix products take them: a few rows and steps of K, the rows in tiles.
#include <cstdint>

#include "engine/cpu/kernels/simd.h"

namespace loom::cpu {

constexpr std::int64_t kStepBlock =
    512;  // of K: one panel block (128 KiB) and the block of A stay in the level-2 cache
constexpr std::int64_t kRowBlock = 96;

// Tiles of nearly equal height, so that none is thin. Where they are packed, each stands as [k][rows].
struct TileRows {
  std::int64_t count;  // of rows
  int tiles;
  std::int64_t firsts[kRowBlock + 1];  // of each tile: a division would delay the next one

  LOOM_INLINE TileRows(std::int64_t rows, std::int64_t atMost)
      : count(rows), tiles(static_cast<int>((rows + atMost - 1) / atMost)) {
    const std::int64_t least = rows / tiles, taller = rows % tiles;
    firsts[0] = 0;
    for (int t = 0; t < tiles; ++t) firsts[t + 1] = firsts[t] + least + (t < taller ? 1 : 0);
  }
  LOOM_INLINE std::int64_t height(int tile) const { return firsts[tile + 1] - firsts[tile]; }
  // Where a packed tile begins: a cache line further on than its rows would have it. Whole steps of tiles are written
  // side by side, and at multiples of 4 KiB they would all want the same eight places of the level-1 cache.
  LOOM_INLINE std::int64_t at(int tile, std::int64_t steps) const { return firsts[tile] * steps + tile * kLanes; }
};

}  // namespace loom::cpu
