#pragma once
// 3 x 3 convolutions of stride 1 by Winograd's minimal filtering F(4 x 4, 3 x 3): 36 products for 16 results instead of
// 144. Both sides are channels-last with channels in multiples of 16; numbers are f32 or bf16, everything between is
// f32.
//   y = A'[(G w G') . (B' x B)] A      dw = G'[(B' x B) . (A dy A')] G      (' transposes, . is by element)
// S. Winograd, Arithmetic Complexity of Computations (1980); A. Lavin, S. Gray, Fast Algorithms for Convolutional
// Neural Networks (2016). At the points 0, +-1/sqrt 2, +-sqrt 2 and infinity, whose powers stay near 1 (the best points
// there are would round 5 % less), and summed in short chains: that keeps the error at 5e-7 to 1.1e-6 of the result
// whatever is summed. A direct sum's grows from 2e-7 (16 channels) to 1e-6 (512); convolution_bench errors.
//
// For AVX2 and AVX-512, not for a baseline. Single-threaded calls over a thread's part; tiles are counted through all
// samples, row by row.
#include <cstdint>

#include "engine/cpu/kernels/stored.h"

namespace loom::cpu {

struct WinogradGeometry {
  std::int64_t batch = 0;
  std::int64_t height = 0, width = 0, inputs = 0;         // what a forward convolution reads
  std::int64_t outHeight = 0, outWidth = 0, outputs = 0;  // what it writes
  std::int64_t top = 0, left = 0;                         // padding before; behind it is whatever is read beyond

  std::int64_t tilesAcross() const { return (outWidth + 3) / 4; }
  std::int64_t tilesDown() const { return (outHeight + 3) / 4; }
  std::int64_t tiles() const { return batch * tilesDown() * tilesAcross(); }
};

// Weights and their gradients in the transformed domain: 36 matrices of inputs x outputs, a line of the cache apart, so
// that they do not all fall on the same sets of it.
inline std::int64_t winogradMatrixFloats(const WinogradGeometry& g) {
  return g.inputs * g.outputs + 16;
}
inline std::int64_t winogradWeightFloats(const WinogradGeometry& g) {
  return 36 * winogradMatrixFloats(g);
}
// The units that the two functions on weights below share out: 16 outputs of one input each.
inline std::int64_t winogradWeightUnits(const WinogradGeometry& g) {
  return g.inputs * g.outputs / 16;
}
// weight: outputs x inputs x 3 x 3. `turned`: inputs x outputs x 3 x 3, turned by 180 degrees, which makes the input
// gradient of a convolution a convolution of the output's gradient.
void winogradWeights(const WinogradGeometry& g, const float* weight, bool turned, float* transformed,
                     std::int64_t firstUnit, std::int64_t lastUnit);

// Tiles of a convolution that are computed together.
std::int64_t winogradBlock(const WinogradGeometry& g);
// Floats of scratch that the next two need a thread.
std::int64_t winogradScratch(const WinogradGeometry& g);
// y = conv(x, w) + bias, then max(., 0) when `relu` (NaN stays), of tiles [first, last). `bias` may be null.
void winogradConvolution(const WinogradGeometry& g, Stored x, const float* transformed, const float* bias, bool relu,
                         Stored y, std::int64_t first, std::int64_t last, float* scratch);
// sums = the transformed weight gradient of tiles [first, last): winogradWeightFloats(), overwritten.
void winogradWeightSums(const WinogradGeometry& g, Stored x, Stored dy, std::int64_t first, std::int64_t last,
                        float* sums, float* scratch);
// dw (outputs x inputs x 3 x 3) = or += the sum of `parts` transformed gradients that stand behind each other, in their
// order.
void winogradWeightGradient(const WinogradGeometry& g, const float* sums, int parts, float* dw, bool add,
                            std::int64_t firstUnit, std::int64_t lastUnit);

}  // namespace loom::cpu
