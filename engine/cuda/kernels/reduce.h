#pragma once
// Arguments of the kernels in reduce.cuh. T of the kernel is the type of what is summed; sums are f32.
#include <cstdint>

#include "engine/cuda/kernels/strided.h"
#include "engine/ops/reduce.h"

namespace loom::cuda {

// sums[r][slice] = factor * sum of x[place of r in `kept` + place of i in `summed`] over the i of the slice, for
// `length` numbers i a result in slices of `share`. A warp sums a slice, or a block does.
struct ReduceRowsArguments {
  const void* from = nullptr;
  float* sums = nullptr;
  std::int64_t results = 1, length = 1, share = 1;
  Divisor slices;  // divides the number of a sum into result and slice
  Strided kept, summed;
  bool wholeBlock = false;
  float factor = 1;
};

// sums[slice][r][column] = factor * sum of x[place of r in `kept` + place of t in `summed` + column] over the t of the
// slice, for `terms` rows of `columns` numbers in slices of `share`. The threads of a block stand in rows of `width`
// (a power of two up to 32); each takes one column, or a pack of 16 bytes with `packed`. Grid: column tiles, slices of
// results.
struct ReduceColumnsArguments {
  const void* from = nullptr;
  float* sums = nullptr;
  std::int64_t results = 1, terms = 1, share = 1, slices = 1, columns = 1;
  Divisor tiles;  // divides a block's number into what it sums and a tile of columns
  Strided kept, summed;
  int width = 32;
  bool packed = false;
  float factor = 1;
};

// to[r] = the maximum, minimum or product of x[place of r in `kept` + place of i in `folded`] over `length` numbers i,
// in f32. A thread takes a result, or a warp does.
struct FoldArguments {
  const void* from = nullptr;
  float* to = nullptr;
  std::int64_t results = 1, length = 1;
  Strided kept, folded;
  ReduceFunction function = ReduceFunction::maximum;
  bool wholeWarp = false;
};

inline constexpr int kReduceThreads = 256;

}  // namespace loom::cuda
