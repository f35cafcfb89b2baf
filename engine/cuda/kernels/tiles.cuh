#pragma once
// Products of small matrices by a warp, of factors in shared memory: in 16 bits by its tensor cores, in f32 by
// multiplying and adding, which rounds no factor. A fragment is a lane's share of a matrix, as mma.m16n8k16 has it (PTX
// ISA, "Matrix Fragments for mma.m16n8k16"): with group = lane / 4 and place = lane % 4, of a (16 x 16) rows group and
// group + 8, columns 2 place and 8 + 2 place with their right neighbours; of b (16 x 8) the same rows 2 place ... of
// column group; of d (16 x 8) rows group and group + 8, columns 2 place and the next.
#include "engine/cuda/kernels/language.h"
#include "engine/cuda/kernels/reduce_block.cuh"

namespace loom::cuda {

// 16-bit numbers as they stand in memory.
using Half = std::uint16_t;

// Numbers of T as they stand in a tile.
template <class T>
struct InTiles {
  using Number = Half;
};
template <>
struct InTiles<float> {
  using Number = float;
};

// Rows of kWidth numbers, so far apart that the lanes of a fragment read from different banks.
template <int kWidth, class Number = Half>
inline constexpr int kTileStride = kWidth + 16 / static_cast<int>(sizeof(Number));

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

// d += 16 rows of `left` from `row` on times the transpose of the rows of `right`, over all columns.
template <class T, int kWidth, int kFragments>
__device__ __forceinline__ void multiplyTransposed(float (&d)[kFragments][4], const Half* left, int row,
                                                   const Half* right) {
  LOOM_UNROLL for (int c = 0; c < kWidth; c += 16) {
    unsigned a[4];
    loadLeft<kTileStride<kWidth>>(a, left, row, c);
    LOOM_UNROLL for (int j = 0; j < kFragments; ++j) {
      unsigned b[2];
      loadRightTransposed<kTileStride<kWidth>>(b, right, 8 * j, c);
      multiplyTiles<T>(d[j], a, b);
    }
  }
}

// d += the fragments `left` times the rows of `right`, columns from `column` on.
template <class T, int kWidth, int kInner, int kFragments>
__device__ __forceinline__ void multiplyFragments(float (&d)[kFragments][4], const float (&left)[kInner][4],
                                                  const Half* right, int column) {
  LOOM_UNROLL for (int k = 0; k < kInner; k += 2) {
    unsigned a[4];
    leftOf<T>(a, left[k], left[k + 1]);
    LOOM_UNROLL for (int c = 0; c < kFragments; ++c) {
      unsigned b[2];
      loadRight<kTileStride<kWidth>>(b, right, 8 * k, column + 8 * c);
      multiplyTiles<T>(d[c], a, b);
    }
  }
}

// --- The same in f32: a lane computes what is its own of d.

// At a multiple of 16 bytes.
__device__ __forceinline__ Pack<float> fourAt(const float* from) {
  return *reinterpret_cast<const Pack<float>*>(from);
}

template <class T, int kWidth, int kFragments>
__device__ __forceinline__ void multiplyTransposed(float (&d)[kFragments][4], const float* left, int row,
                                                   const float* right) {
  constexpr int kStride = kTileStride<kWidth, float>;
  const float* const a = left + (row + groupOfLane()) * kStride;
  const float* const b = right + 2 * placeOfLane() * kStride;
  LOOM_NO_UNROLL for (int c = 0; c < kWidth; c += 4) {
    const Pack<float> upper = fourAt(a + c), lower = fourAt(a + 8 * kStride + c);
    LOOM_UNROLL for (int j = 0; j < kFragments; ++j) LOOM_UNROLL for (int e = 0; e < 2; ++e) {
      const Pack<float> factors = fourAt(b + (8 * j + e) * kStride + c);
      LOOM_UNROLL for (int k = 0; k < 4; ++k) {
        d[j][e] += upper.at[k] * factors.at[k];
        d[j][2 + e] += lower.at[k] * factors.at[k];
      }
    }
  }
}

// A lane has four columns side by side, half of them in the second of two fragments: one load is both.
template <class T, int kWidth, int kInner, int kFragments>
__device__ __forceinline__ void multiplyFragments(float (&d)[kFragments][4], const float (&left)[kInner][4],
                                                  const float* right, int column) {
  constexpr int kStride = kTileStride<kWidth, float>;
  const float* const b = right + column + 4 * placeOfLane();
  LOOM_UNROLL for (int j = 0; j < kInner; ++j) LOOM_NO_UNROLL for (int place = 0; place < 4; ++place)
      LOOM_UNROLL for (int e = 0; e < 2; ++e) {
    const float upper = __shfl_sync(kWholeWarp, left[j][e], place, 4),
                lower = __shfl_sync(kWholeWarp, left[j][2 + e], place, 4);
    LOOM_UNROLL for (int c = 0; c < kFragments; c += 2) {
      const Pack<float> factors = fourAt(b + (8 * j + 2 * place + e) * kStride + 8 * c);
      LOOM_UNROLL for (int k = 0; k < 4; ++k) {
        d[c + k / 2][k % 2] += upper * factors.at[k];
        d[c + k / 2][2 + k % 2] += lower * factors.at[k];
      }
    }
  }
}

// Where the first two numbers of fragment c of multiplyFragments() stand among its columns.
template <class T>
__device__ __forceinline__ int columnOfFragment(int c) {
  if constexpr (sizeof(T) == sizeof(float))
    return 8 * (c - c % 2) + 4 * placeOfLane() + c % 2 * 2;
  else
    return 8 * c + 2 * placeOfLane();
}

}  // namespace loom::cuda
