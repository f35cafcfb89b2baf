#pragma once
// The inner loop of every matrix product: a few rows of A times one panel of packed B, sums in registers.
#include <cstdint>

#include "engine/cpu/kernels/simd.h"

namespace loom::cpu {

template <class V>
struct UnalignedOf {
  typedef V type __attribute__((aligned(4), may_alias));
};

typedef float Vec8 __attribute__((vector_size(32)));
typedef float Vec4 __attribute__((vector_size(16)));

// Registers of one instruction set: vectors, rows and vectors a row of the tile. A panel of B is kVectors * lanes wide.
struct TileAvx512 {
  typedef Vec V;
  static constexpr int kRows = 6, kVectors = 4;
};
struct TileAvx2 {
  typedef Vec8 V;
  static constexpr int kRows = 6, kVectors = 2;
};
struct TileBaseline {
  typedef Vec4 V;
  static constexpr int kRows = 3, kVectors = 4;
};

template <class V>
constexpr int lanesOf() {
  return static_cast<int>(sizeof(V) / sizeof(float));
}

// sums[r][v] += sum over k of a[r * rowStride + k * stepStride] * b[k * panel + v * lanes ...]
template <class V, int kRows, int kVectors>
LOOM_INLINE void multiplyTile(V (&sums)[kRows][kVectors], const float* a, std::int64_t rowStride,
                              std::int64_t stepStride, const float* b, std::int64_t panel, std::int64_t steps) {
  typedef typename UnalignedOf<V>::type U;
  for (std::int64_t k = 0; k < steps; ++k) {
    V row[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) row[v] = *reinterpret_cast<const U*>(b + v * lanesOf<V>());
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const float factor = a[r * rowStride];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums[r][v] += factor * row[v];
    }
    a += stepStride;
    b += panel;
  }
}

}  // namespace loom::cpu
