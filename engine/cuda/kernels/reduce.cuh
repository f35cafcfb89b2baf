// Sums over some axes: each by a fixed number of threads over fixed numbers, then in a fixed tree.
#include "engine/cuda/kernels/reduce.h"
#include "engine/cuda/kernels/reduce_block.cuh"
#include "engine/cuda/kernels/strided.cuh"

namespace loom::cuda {

// What is summed lies in rows of its own. Packs where rows are whole packs.
template <class T>
__global__ void __launch_bounds__(kReduceThreads) reduceRows(ReduceRowsArguments a) {
  const T* const x = static_cast<const T*>(a.from);
  const int size = a.wholeBlock ? static_cast<int>(blockDim.x) : kWarp;
  const int lane = static_cast<int>(threadIdx.x) % size;
  const std::int64_t teams = blockDim.x / static_cast<unsigned>(size);
  const bool packed = runOf(a.summed) % Pack<T>::kCount == 0 && stepOf(a.summed) == 1 &&
                      a.share % Pack<T>::kCount == 0 && a.length % Pack<T>::kCount == 0;
  const std::int64_t count = a.results * a.slices.divisor;
  for (std::int64_t i = blockIdx.x * teams + threadIdx.x / static_cast<unsigned>(size); i < count;
       i += teams * gridDim.x) {
    const std::int64_t result = divided(i, a.slices);
    const std::int64_t first = (i - result * a.slices.divisor) * a.share;
    const std::int64_t last = first + a.share < a.length ? first + a.share : a.length;
    const T* const row = x + placeIn(a.kept, result);
    float sum = 0;
    if (packed) {
      for (std::int64_t k = first + lane * Pack<T>::kCount; k < last; k += size * Pack<T>::kCount) {
        const Pack<T> pack = *reinterpret_cast<const Pack<T>*>(row + placeIn(a.summed, k));
        for (const T& one : pack.at) sum += toFloat(one);
      }
    } else {
      for (std::int64_t k = first + lane; k < last; k += size) sum += toFloat(row[placeIn(a.summed, k)]);
    }
    sum = a.wholeBlock ? blockSum<kReduceThreads>(sum) : warpSum(sum);
    if (lane == 0) a.sums[i] = a.factor * sum;
  }
}

// Whole rows are summed into one: neighbouring threads take neighbouring columns, the threads of a block that share a
// column meet at the end.
template <class T, int kColumns>
__device__ __forceinline__ void reduceColumnsOf(const ReduceColumnsArguments& a) {
  LOOM_SHARED(float, parts, kColumns* kReduceThreads);
  const T* const x = static_cast<const T*>(a.from);
  const int thread = static_cast<int>(threadIdx.x), rows = kReduceThreads / a.width;
  const int lane = thread % a.width, row = thread / a.width;
  const std::int64_t count = a.results * a.slices * a.tiles.divisor;
  for (std::int64_t i = blockIdx.x; i < count; i += gridDim.x) {
    const std::int64_t what = divided(i, a.tiles);  // slice after slice, all results in each
    const std::int64_t column = ((i - what * a.tiles.divisor) * a.width + lane) * kColumns;
    const std::int64_t slice = what / a.results, result = what - slice * a.results;
    const std::int64_t first = slice * a.share, last = first + a.share < a.terms ? first + a.share : a.terms;
    const T* const at = x + placeIn(a.kept, result) + column;
    float sums[kColumns] = {};
    if (column < a.columns) {
      for (std::int64_t t = first + row; t < last; t += rows) {
        const T* const from = at + placeIn(a.summed, t);
        if constexpr (kColumns == 1) {
          sums[0] += toFloat(*from);
        } else {
          const Pack<T> pack = *reinterpret_cast<const Pack<T>*>(from);
          for (int k = 0; k < kColumns; ++k) sums[k] += toFloat(pack.at[k]);
        }
      }
    }
    for (int k = 0; k < kColumns; ++k) parts[k * kReduceThreads + thread] = sums[k];
    __syncthreads();
    for (int half = rows / 2; half > 0; half /= 2) {
      if (row < half)
        for (int k = 0; k < kColumns; ++k)
          parts[k * kReduceThreads + thread] += parts[k * kReduceThreads + thread + half * a.width];
      __syncthreads();
    }
    if (row == 0 && column < a.columns)
      for (int k = 0; k < kColumns; ++k)
        a.sums[what * a.columns + column + k] = a.factor * parts[k * kReduceThreads + thread];
  }  // a thread writes where itself alone has read since the last barrier
}

template <class T>
__global__ void __launch_bounds__(kReduceThreads) reduceColumns(ReduceColumnsArguments a) {
  if (a.packed)
    reduceColumnsOf<T, Pack<T>::kCount>(a);
  else
    reduceColumnsOf<T, 1>(a);
}

// A NaN in either stays.
__device__ __forceinline__ float foldedOf(ReduceFunction function, float a, float b) {
  if (function == ReduceFunction::product) return a * b;
  return (function == ReduceFunction::maximum ? a > b : a < b) || a != a ? a : b;
}

template <class T>
__global__ void __launch_bounds__(kReduceThreads) foldTerms(FoldArguments a) {
  const T* const x = static_cast<const T*>(a.from);
  const int size = a.wholeWarp ? kWarp : 1, lane = a.wholeWarp ? static_cast<int>(threadIdx.x) % kWarp : 0;
  for (std::int64_t r = firstOfThread() / size; r < a.results; r += threadsOfGrid() / size) {
    const T* const row = x + placeIn(a.kept, r);
    float folded = a.function == ReduceFunction::product   ? 1.0f
                   : a.function == ReduceFunction::maximum ? -INFINITY
                                                           : INFINITY;
    for (std::int64_t i = lane; i < a.length; i += size)
      folded = foldedOf(a.function, toFloat(row[placeIn(a.folded, i)]), folded);
    if (a.wholeWarp)
      for (int other = kWarp / 2; other > 0; other /= 2)
        folded = foldedOf(a.function, folded, __shfl_xor_sync(kWholeWarp, folded, other));
    if (lane == 0) a.to[r] = folded;
  }
}

LOOM_KERNELS(reduce, LOOM_KERNEL("fold", foldTerms, FoldArguments),
             LOOM_KERNEL("reduce_rows", reduceRows, ReduceRowsArguments),
             LOOM_KERNEL("reduce_columns", reduceColumns, ReduceColumnsArguments))

}  // namespace loom::cuda
