#pragma once
// Sums and maxima over a warp and over a block, in a fixed tree: the same numbers give the same bits each time. Blocks
// are of one dimension, a multiple of 32 threads and at most kThreads; all threads of the block must call, and each
// gets the result. Shared memory may be written again as soon as a call has returned.
#include "engine/cuda/kernels/language.h"

namespace loom::cuda {

inline constexpr int kWarp = 32;
inline constexpr unsigned kWholeWarp = 0xffffffffu;

// float, double or an integer. Every lane gets the same bits: both partners of an exchange add the same two numbers.
template <class Value>
__device__ __forceinline__ Value warpSum(Value value) {
  for (int other = kWarp / 2; other > 0; other /= 2) value += __shfl_xor_sync(kWholeWarp, value, other);
  return value;
}

// NaNs are passed over, as by fmaxf.
__device__ __forceinline__ float warpMax(float value) {
  for (int other = kWarp / 2; other > 0; other /= 2) value = fmaxf(value, __shfl_xor_sync(kWholeWarp, value, other));
  return value;
}

template <int kThreads = 1024, class Value>
__device__ __forceinline__ Value blockSum(Value value) {
  LOOM_SHARED(Value, parts, kThreads / kWarp);
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warps = static_cast<int>(blockDim.x) / kWarp;
  value = warpSum(value);
  if (lane == 0) parts[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = warpSum(lane < warps ? parts[lane] : Value(0));
  __syncthreads();
  return value;
}

template <int kThreads = 1024>
__device__ __forceinline__ float blockMax(float value) {
  LOOM_SHARED(float, parts, kThreads / kWarp);
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warps = static_cast<int>(blockDim.x) / kWarp;
  value = warpMax(value);
  if (lane == 0) parts[threadIdx.x / kWarp] = value;
  __syncthreads();
  value = warpMax(parts[lane < warps ? lane : 0]);
  __syncthreads();
  return value;
}

}  // namespace loom::cuda
