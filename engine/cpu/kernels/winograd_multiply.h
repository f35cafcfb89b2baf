#pragma once
// The 36 matrix products between winograd.h's transforms. A matrix of tiles x channels stands as groups of sixteen
// channels, groupIn (groupOut) floats apart, of all tiles; the matrices of the 36 points stand partIn (partOut) apart,
// those of weights partWeights.
#include <cstdint>

#include "engine/cpu/kernels/simd.h"

namespace loom::cpu {

constexpr std::int64_t kWinogradPanel = 64;  // outputs of a panel of transformed weights; the last may have 16, 32, 48
constexpr std::int64_t kWinogradTiles = 24;  // a block's room is in multiples of this many tiles

struct WinogradMatrices {
  std::int64_t tiles, inputs, outputs;
  std::int64_t groupIn, partIn, groupOut, partOut, partWeights;
};

// results (tiles x outputs) = in (tiles x inputs) times weights (panels of inputs x 64) at each point. Tiles up to the
// next multiple of 24 are computed along, from whatever stands there.
void multiplyTiles(const WinogradMatrices& of, const float* in, const float* weights, float* results);
// sums (inputs x outputs) = or += in, transposed, times gradients (tiles x outputs) at each point.
void multiplyTransposed(const WinogradMatrices& of, const float* in, const float* gradients, bool add, float* sums);

}  // namespace loom::cpu
