// A stable radix sort of non-negative keys, without an atomic operation whose order shows.
#include "engine/cuda/kernels/reduce_block.cuh"
#include "engine/cuda/kernels/sort.h"

namespace loom::cuda {

__device__ __forceinline__ int digitOf(std::int32_t key, int shift) {
  return (key >> shift) & (kSortDigits - 1);
}

__global__ void __launch_bounds__(kSortThreads) sortCount(SortCountArguments a) {
  LOOM_SHARED(int, counts, kSortDigits);
  counts[threadIdx.x] = 0;
  __syncthreads();
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kSortTile;
  for (std::int64_t i = first + threadIdx.x; i < first + kSortTile && i < a.count; i += kSortThreads)
    atomicAdd(&counts[digitOf(a.keys[i], a.shift)], 1);
  __syncthreads();
  a.counts[static_cast<std::int64_t>(threadIdx.x) * gridDim.x + blockIdx.x] = counts[threadIdx.x];
}

// The sum of `value` over the threads before this one; blocks of kSortThreads, all of whose threads must call, once in
// a kernel.
__device__ __forceinline__ int sumBefore(int value) {
  LOOM_SHARED(int, sums, kSortThreads / kWarp);
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
  int sum = value;
  for (int by = 1; by < kWarp; by *= 2) {
    const int other = __shfl_up_sync(kWholeWarp, sum, static_cast<unsigned>(by));
    if (lane >= by) sum += other;
  }
  if (lane == kWarp - 1) sums[warp] = sum;
  __syncthreads();
  for (int k = 0; k < warp; ++k) sum += sums[k];
  return sum - value;
}

__global__ void __launch_bounds__(kSortThreads) sortScan(SortScanArguments a) {
  const std::int64_t share = (a.count + kSortThreads - 1) / kSortThreads, first = threadIdx.x * share;
  const std::int64_t last = first + share < a.count ? first + share : a.count;
  int own = 0;
  for (std::int64_t i = first; i < last; ++i) own += a.counts[i];
  int before = sumBefore(own);
  for (std::int64_t i = first; i < last; ++i) {
    const int count = a.counts[i];
    a.counts[i] = before;
    before += count;
  }
}

// A warp takes kSortRounds * 32 neighbours of the tile. Keys of one digit are ranked within the warp (the lanes before,
// and the rounds before), then by the warps before.
__global__ void __launch_bounds__(kSortThreads) sortMove(SortMoveArguments a) {
  constexpr int kWarps = kSortThreads / kWarp;
  LOOM_SHARED(int, ranked, kWarps* kSortDigits);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  int* const mine = ranked + warp * kSortDigits;
  for (int k = lane; k < kSortDigits; k += kWarp) mine[k] = 0;
  __syncwarp();
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * kSortTile + warp * (kSortRounds * kWarp) + lane;
  std::int32_t keys[kSortRounds];
  int ranks[kSortRounds];
  for (int round = 0; round < kSortRounds; ++round) {
    const std::int64_t i = first + round * kWarp;
    const bool there = i < a.count;
    keys[round] = there ? a.keys[i] : 0;
    const int digit = digitOf(keys[round], a.shift);
    unsigned alike = __ballot_sync(kWholeWarp, there);
    for (int bit = 0; bit < 8; ++bit) {
      const unsigned set = __ballot_sync(kWholeWarp, digit >> bit & 1);
      alike &= (digit >> bit & 1) != 0 ? set : ~set;
    }
    const int before = __popc(alike & ((1u << lane) - 1));
    ranks[round] = mine[digit] + before;
    __syncwarp();
    if (there && before == 0) mine[digit] += __popc(alike);
    __syncwarp();
  }
  __syncthreads();
  int start = a.starts[static_cast<std::int64_t>(thread) * gridDim.x + blockIdx.x];  // of the digit `thread`
  for (int k = 0; k < kWarps; ++k) {
    const int count = ranked[k * kSortDigits + thread];
    ranked[k * kSortDigits + thread] = start;
    start += count;
  }
  __syncthreads();
  for (int round = 0; round < kSortRounds; ++round) {
    const std::int64_t i = first + round * kWarp;
    if (i >= a.count) continue;
    const int to = mine[digitOf(keys[round], a.shift)] + ranks[round];
    a.sortedKeys[to] = keys[round];
    a.sortedValues[to] = a.values == nullptr ? static_cast<std::int32_t>(i) : a.values[i];
  }
}

LOOM_KERNELS(sort, LOOM_KERNEL_ONE("sort_count", sortCount, SortCountArguments),
             LOOM_KERNEL_ONE("sort_scan", sortScan, SortScanArguments),
             LOOM_KERNEL_ONE("sort_move", sortMove, SortMoveArguments))

}  // namespace loom::cuda
