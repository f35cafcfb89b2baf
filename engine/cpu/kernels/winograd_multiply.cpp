#include "engine/cpu/kernels/winograd_multiply.h"

#include <algorithm>

#include "engine/cpu/kernels/gemm_tile.h"

namespace loom::cpu {
namespace {

// Where vector v of a row stands whose groups of sixteen are `group` floats apart.
template <class V>
LOOM_INLINE std::int64_t offsetOf(int v, std::int64_t group) {
  return v * lanesOf<V>() / kLanes * group + v * lanesOf<V>() % kLanes;
}

// Products are summed in chains of so many, the chains then one to another: what rounding adds grows with the root of a
// chain's length, and in the transformed domain it counts 1.7 times what it counts in a direct sum.
constexpr std::int64_t kChain = 32;

// results of kRows tiles and kVectors vectors of outputs = or += sums over the inputs of a chain, in registers.
template <class V, int kRows, int kVectors>
LOOM_INLINE void computeChain(const WinogradMatrices& of, const float* in, const float* weights, std::int64_t width,
                              std::int64_t inputs, bool add, float* results) {
  typedef typename UnalignedOf<V>::type U;
  V sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[r][v] = V{};
  }
  for (std::int64_t c = 0; c < inputs; c += kLanes, in += of.groupIn) {
#pragma GCC unroll 2
    for (std::int64_t k = 0; k < kLanes; ++k, weights += width) {
      V row[kVectors];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) row[v] = *reinterpret_cast<const U*>(weights + v * lanesOf<V>());
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const float factor = in[r * kLanes + k];
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) sums[r][v] += factor * row[v];
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      U& to = *reinterpret_cast<U*>(results + r * kLanes + offsetOf<V>(v, of.groupOut));
      to = add ? to + sums[r][v] : sums[r][v];
    }
  }
}
template <class V, int kRows, int kVectors>
LOOM_INLINE void computeBlock(const WinogradMatrices& of, const float* in, const float* weights, std::int64_t width,
                              float* results) {
  for (std::int64_t c = 0; c < of.inputs; c += kChain)
    computeChain<V, kRows, kVectors>(of, in + c / kLanes * of.groupIn, weights + c * width, width,
                                     std::min(kChain, of.inputs - c), c > 0, results);
}

// A panel of weights against all tiles.
template <class V, int kRows, int kVectors>
LOOM_INLINE void computePanel(const WinogradMatrices& of, const float* in, const float* weights, std::int64_t width,
                              float* results) {
  static_assert(kWinogradTiles % kRows == 0);
  for (std::int64_t tile = 0; tile < of.tiles; tile += kRows)
    computeBlock<V, kRows, kVectors>(of, in + tile * kLanes, weights, width, results + tile * kLanes);
}

// sums of kRows inputs and kVectors vectors of outputs = or += those over the tiles of a chain, in registers.
template <class V, int kRows, int kVectors>
LOOM_INLINE void computeTransposedChain(const WinogradMatrices& of, const float* in, const float* gradients,
                                        std::int64_t tiles, bool add, float* to) {
  typedef typename UnalignedOf<V>::type U;
  V sums[kRows][kVectors];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[r][v] = V{};
  }
  for (std::int64_t tile = 0; tile < tiles; ++tile, in += kLanes, gradients += kLanes) {
    V row[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) row[v] = *reinterpret_cast<const U*>(gradients + offsetOf<V>(v, of.groupOut));
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const float factor = in[r];
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) sums[r][v] += factor * row[v];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      U& sum = *reinterpret_cast<U*>(to + r * of.outputs + v * lanesOf<V>());
      sum = add ? sum + sums[r][v] : sums[r][v];
    }
  }
}
template <class V, int kRows, int kVectors>
LOOM_INLINE void computeTransposed(const WinogradMatrices& of, const float* in, const float* gradients, bool add,
                                   float* to) {
  for (std::int64_t tile = 0; tile < of.tiles; tile += kChain)
    computeTransposedChain<V, kRows, kVectors>(of, in + tile * kLanes, gradients + tile * kLanes,
                                               std::min(kChain, of.tiles - tile), add || tile > 0, to);
}

// Sixteen inputs against kColumns outputs.
template <class V, int kRows, std::int64_t kColumns>
LOOM_INLINE void computeGroup(const WinogradMatrices& of, const float* in, const float* gradients, bool add,
                              float* to) {
  static_assert(kLanes % kRows == 0);
  for (std::int64_t r = 0; r < kLanes; r += kRows)
    computeTransposed<V, kRows, kColumns / lanesOf<V>()>(of, in + r, gradients, add, to + r * of.outputs);
}

// Rows for each number of vectors, so that sums fill the registers.
struct Avx512 {
  static LOOM_INLINE void panel(const WinogradMatrices& of, const float* in, const float* weights, std::int64_t width,
                                float* results) {
    switch (width / kLanes) {
      case 4:
        return computePanel<Vec, 6, 4>(of, in, weights, width, results);
      case 3:
        return computePanel<Vec, 8, 3>(of, in, weights, width, results);
      case 2:
        return computePanel<Vec, 12, 2>(of, in, weights, width, results);
      default:
        return computePanel<Vec, 12, 1>(of, in, weights, width, results);
    }
  }
  static LOOM_INLINE void rows(const WinogradMatrices& of, const float* in, const float* gradients, bool add,
                               float* to) {
    std::int64_t n = 0;
    for (; n + 2 * kLanes <= of.outputs; n += 2 * kLanes)
      computeGroup<Vec, 8, 2 * kLanes>(of, in, gradients + n / kLanes * of.groupOut, add, to + n);
    if (n < of.outputs) computeGroup<Vec, 16, kLanes>(of, in, gradients + n / kLanes * of.groupOut, add, to + n);
  }
};
template <class V, int kTileRows, int kInputRows>
struct Narrow {
  static LOOM_INLINE void panel(const WinogradMatrices& of, const float* in, const float* weights, std::int64_t width,
                                float* results) {
    for (std::int64_t n = 0; n < width; n += kLanes)
      computePanel<V, kTileRows, kLanes / lanesOf<V>()>(of, in, weights + n, width, results + n / kLanes * of.groupOut);
  }
  static LOOM_INLINE void rows(const WinogradMatrices& of, const float* in, const float* gradients, bool add,
                               float* to) {
    for (std::int64_t n = 0; n < of.outputs; n += kLanes)
      computeGroup<V, kInputRows, kLanes>(of, in, gradients + n / kLanes * of.groupOut, add, to + n);
  }
};

template <class T>
LOOM_INLINE void multiplyTilesWith(const WinogradMatrices& of, const float* in, const float* weights, float* results) {
  for (int part = 0; part < 36; ++part) {
    for (std::int64_t n = 0; n < of.outputs; n += kWinogradPanel)
      T::panel(of, in + part * of.partIn, weights + part * of.partWeights + n * of.inputs,
               std::min(kWinogradPanel, of.outputs - n), results + part * of.partOut + n / kLanes * of.groupOut);
  }
}
template <class T>
LOOM_INLINE void multiplyTransposedWith(const WinogradMatrices& of, const float* in, const float* gradients, bool add,
                                        float* sums) {
  for (int part = 0; part < 36; ++part) {
    for (std::int64_t k = 0; k < of.inputs; k += kLanes)
      T::rows(of, in + part * of.partIn + k / kLanes * of.groupIn, gradients + part * of.partOut, add,
              sums + part * of.partWeights + k * of.outputs);
  }
}

using Avx2 = Narrow<Vec8, 6, 4>;

LOOM_TARGET_AVX512 void multiplyTilesAvx512(const WinogradMatrices& of, const float* in, const float* w, float* out) {
  multiplyTilesWith<Avx512>(of, in, w, out);
}
LOOM_TARGET_AVX2 void multiplyTilesAvx2(const WinogradMatrices& of, const float* in, const float* w, float* out) {
  multiplyTilesWith<Avx2>(of, in, w, out);
}
LOOM_TARGET_AVX512 void multiplyTransposedAvx512(const WinogradMatrices& of, const float* in, const float* dy, bool add,
                                                 float* sums) {
  multiplyTransposedWith<Avx512>(of, in, dy, add, sums);
}
LOOM_TARGET_AVX2 void multiplyTransposedAvx2(const WinogradMatrices& of, const float* in, const float* dy, bool add,
                                             float* sums) {
  multiplyTransposedWith<Avx2>(of, in, dy, add, sums);
}

}  // namespace

void multiplyTiles(const WinogradMatrices& of, const float* in, const float* weights, float* results) {
  (isa() == Isa::avx512 ? multiplyTilesAvx512 : multiplyTilesAvx2)(of, in, weights, results);
}

void multiplyTransposed(const WinogradMatrices& of, const float* in, const float* gradients, bool add, float* sums) {
  (isa() == Isa::avx512 ? multiplyTransposedAvx512 : multiplyTransposedAvx2)(of, in, gradients, add, sums);
}

}  // namespace loom::cpu
