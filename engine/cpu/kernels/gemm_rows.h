#pragma once
// Blocks of A as matrix products take them: a few rows and steps of K, the rows in tiles.
#include <cstdint>

#include "engine/cpu/kernels/halves.h"

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

// A few steps of a matrix whose columns are contiguous, copied on their way into tiles. Where they stand themselves,
// steps often lie at multiples of 4 KiB, and eight lines of the level-1 cache are all that it has for these: each tile
// that reads its part of four quarters' steps would drive out what the next one is about to read.
constexpr std::int64_t kStepsAtOnce = 4;
struct Steps {
  static constexpr std::int64_t kStride = kRowBlock + kLanes;  // eight numbers are read at the last row of a tile
  alignas(64) float numbers[kStepsAtOnce * kStride];
  // Those `ahead` floats further on are fetched into the level-2 cache meanwhile.
  LOOM_INLINE void read(const float* from, std::int64_t stride, std::int64_t rows, std::int64_t ahead) {
    for (std::int64_t k = 0; k < kStepsAtOnce; ++k, from += stride) {
      float* const to = numbers + k * kStride;
      std::int64_t r = 0;
      for (; r + 8 <= rows; r += 8) {
        if (r % kLanes == 0) __builtin_prefetch(from + ahead + r, 0, 2);
        store8(to + r, load8(from + r));
      }
      for (; r < rows; ++r) to[r] = from[r];
    }
  }
};
// Of the numbers of a tile of six rows and four steps, `stride` apart, which are three vectors one after another: the
// one of number kPart, out of the two steps that it has parts of.
constexpr std::int64_t kSixRows = 6;
template <int kPart>
LOOM_INLINE Vec8 partOfSixRows(const float* at, std::int64_t stride) {
  if constexpr (kPart == 0)
    return __builtin_shuffle(load8(at), load8(at + stride - 6), Vec8I{0, 1, 2, 3, 4, 5, 14, 15});
  else if constexpr (kPart == 1)
    return __builtin_shuffle(load8(at + stride + 2), load8(at + 2 * stride - 4), Vec8I{0, 1, 2, 3, 12, 13, 14, 15});
  else
    return __builtin_shuffle(load8(at + 2 * stride + 4), load8(at + 3 * stride - 2),
                             Vec8I{0, 1, 10, 11, 12, 13, 14, 15});
}

}  // namespace loom::cpu
