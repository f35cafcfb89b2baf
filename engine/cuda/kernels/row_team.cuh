#pragma once
// The threads that share a row: a warp where rows are short, else the whole block. All of them walk the same rows.
#include "engine/cuda/kernels/reduce_block.cuh"

namespace loom::cuda {

struct RowTeam {
  bool wholeBlock;
  int lane, size;              // in the team
  std::int64_t first, stride;  // rows of this team
};

__device__ __forceinline__ RowTeam rowTeam(bool wholeBlock) {
  const int thread = static_cast<int>(threadIdx.x), size = wholeBlock ? static_cast<int>(blockDim.x) : kWarp;
  const std::int64_t teams = static_cast<int>(blockDim.x) / size;
  return {wholeBlock, thread % size, size, blockIdx.x * teams + thread / size, gridDim.x * teams};
}

// Of a block of at most kRowThreads.
inline constexpr int kRowThreads = 512;
template <class Value>
__device__ __forceinline__ Value teamSum(const RowTeam& team, Value value) {
  return team.wholeBlock ? blockSum<kRowThreads>(value) : warpSum(value);
}
__device__ __forceinline__ float teamMax(const RowTeam& team, float value) {
  return team.wholeBlock ? blockMax<kRowThreads>(value) : warpMax(value);
}

// The largest of a row and sum(e^(x - largest)), in one pass: each thread keeps its own largest and rescales its sum
// when a larger one comes (Milakov and Gimelshein, 2018). A NaN makes the sum one; of -inf alone, `sum` is 0.
struct Exponentials {
  float largest = -3.4e38f;  // finite, so that -inf behind it adds e^-inf = 0
  float sum = 0;

  __device__ __forceinline__ void add(float x) {
    if (x > largest) {
      sum *= expf(largest - x);
      largest = x;
    }
    sum += expf(x - largest);
  }
};
__device__ __forceinline__ Exponentials teamExponentials(const RowTeam& team, const Exponentials& own) {
  const float largest = teamMax(team, own.largest);
  return {largest, teamSum(team, own.sum * expf(own.largest - largest))};
}

}  // namespace loom::cuda
