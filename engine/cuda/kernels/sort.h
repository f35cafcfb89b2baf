#pragma once
// Arguments of the kernels in sort.cuh: numbers sorted by a digit of eight bits at a time, those with equal digits in
// the order in which they stood (a radix sort from the lowest digit). Each block takes a tile of kSortTile numbers.
#include <cstdint>

namespace loom::cuda {

inline constexpr int kSortThreads = 256, kSortDigits = 256, kSortRounds = 8;
inline constexpr int kSortTile = kSortThreads * kSortRounds;

// counts[digit][tile] = how many keys of the tile have this digit.
struct SortCountArguments {
  const std::int32_t* keys = nullptr;
  std::int32_t* counts = nullptr;
  std::int64_t count = 0;
  int shift = 0;  // of the digit
};

// Each count becomes the sum of those before it. One block.
struct SortScanArguments {
  std::int32_t* counts = nullptr;
  std::int64_t count = 0;
};

// Moves keys and what belongs to them to their places in the order of this digit.
struct SortMoveArguments {
  const std::int32_t *keys = nullptr, *values = nullptr;  // without values: each key's own place
  const std::int32_t* starts = nullptr;                   // the scanned counts
  std::int32_t *sortedKeys = nullptr, *sortedValues = nullptr;
  std::int64_t count = 0;
  int shift = 0;
};

}  // namespace loom::cuda
