#pragma once
// Products of small matrices by a warp's tensor cores, of factors in shared memory. A fragment is a lane's share of a
// matrix, as mma.m16n8k16 has it (PTX ISA, "Matrix Fragments for mma.m16n8k16"): with group = lane / 4 and
// place = lane % 4, of a (16 x 16) rows group and group + 8, columns 2 place and 8 + 2 place with their right
// neighbours; of b (16 x 8) the same rows 2 place ... of column group; of d (16 x 8) rows group and group + 8, columns
// 2 place and the next.
#include "engine/cuda/kernels/language.h"

namespace loom::cuda {

// 16-bit numbers as they stand in memory.
using Half = std::uint16_t;

// Rows of kWidth numbers, so far apart that the lanes of a fragment read from different banks.
template <int kWidth>
inline constexpr int kTileStride = kWidth + 8;

__device__ __forceinline__ int groupOfLane() {
  return static_cast<int>(threadIdx.x) % 32 / 4;
}
__device__ __forceinline__ int placeOfLane() {
  return static_cast<int>(threadIdx.x) % 4;
}

__device__ __forceinline__ unsigned pairOf(Half low, Half high) {
  return static_cast<unsigned>(low) | static_cast<unsigned>(high) << 16;
}

// Rows `row` ... + 15, columns `column` ... + 15 of a tile.
template <int kStride>
__device__ __forceinline__ void loadLeft(unsigned (&a)[4], const Half* tile, int row, int column) {
  const Half* const at = tile + (row + groupOfLane()) * kStride + column + 2 * placeOfLane();
  a[0] = pairAt(at);
  a[1] = pairAt(at + 8 * kStride);
  a[2] = pairAt(at + 8);
  a[3] = pairAt(at + 8 * kStride + 8);
}

// b = the transpose of rows `row` ... + 7, columns `column` ... + 15 of a tile.
template <int kStride>
__device__ __forceinline__ void loadRightTransposed(unsigned (&b)[2], const Half* tile, int row, int column) {
  const Half* const at = tile + (row + groupOfLane()) * kStride + column + 2 * placeOfLane();
  b[0] = pairAt(at);
  b[1] = pairAt(at + 8);
}

// b = rows `row` ... + 15, columns `column` ... + 7 of a tile.
template <int kStride>
__device__ __forceinline__ void loadRight(unsigned (&b)[2], const Half* tile, int row, int column) {
  const Half* const at = tile + (row + 2 * placeOfLane()) * kStride + column + groupOfLane();
  b[0] = pairOf(at[0], at[kStride]);
  b[1] = pairOf(at[8 * kStride], at[9 * kStride]);
}

// What stands in two neighbouring fragments d, as the left factor of the next product.
template <class T>
__device__ __forceinline__ void leftOf(unsigned (&a)[4], const float (&left)[4], const float (&right)[4]) {
  a[0] = packed<T>(left[0], left[1]);
  a[1] = packed<T>(left[2], left[3]);
  a[2] = packed<T>(right[0], right[1]);
  a[3] = packed<T>(right[2], right[3]);
}

}  // namespace loom::cuda
