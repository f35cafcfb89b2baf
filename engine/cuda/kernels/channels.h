#pragma once
// A tensor as rows x channels, channels innermost, and how blocks share it: each takes a chunk of rows of a tile of
// channels, its threads a few channels each (threadIdx.x) of every so many-th row (threadIdx.y). What belongs to a
// channel stays in a thread's registers while it goes down the rows.
#include <cstdint>

namespace loom::cuda {

inline constexpr int kChannelThreads = 256;  // of a block

struct ChannelRows {
  std::int64_t rows = 0, channels = 0;
  std::int64_t chunkRows = 0;  // the last chunk may have fewer
  int chunks = 0;              // gridDim.y
};

}  // namespace loom::cuda
