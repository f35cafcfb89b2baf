#pragma once
// Arguments of the kernels in bias.cuh. T of the kernels is the type of x and y.
#include <cstdint>

namespace loom::cuda {

inline constexpr unsigned kColumnSumRows = 8, kColumnSumLanes = 32;  // the block: lanes x rows of threads

// As below, of all rows at once: few enough for one block to go down them, whose threads share them.
inline constexpr int kWholeColumnThreads = 512;
inline constexpr unsigned kWholeColumnLanes =
    2;  // packs across: 32 bytes of a row, which is what memory gives at least

// sums[chunk][c] = sum of x[r][c] over the chunk's rows. Grid: columns in tiles of kColumnSumLanes packs (`packed`:
// 16 bytes of x, else one number), by chunks. Summed in a fixed order.
struct ColumnSumArguments {
  const void* x = nullptr;  // rows x columns, row-major
  float* sums = nullptr;    // chunks x columns
  std::int64_t rows = 0, columns = 0, rowsPerChunk = 0;
  bool packed = false;  // columns are a multiple of a pack
};

// y[r][c] = y[r][c] + bias[c], then as a ReLU if asked for.
struct AddBiasArguments {
  void* y = nullptr;           // rows x columns
  const void* bias = nullptr;  // in f32; null: 0
  bool biasAsY = false;        // it is in T
  std::int64_t count = 0, columns = 0;
  bool relu = false;
};

}  // namespace loom::cuda
