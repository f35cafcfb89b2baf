#pragma once
// Convolutions as matrix products over pixels: the pixels of channels-last images as rows of a matrix, for gemm.h and
// gemm_bf16.h. A 1 x 1 convolution of stride 1 is such a product as its images stand; here is what the others need.
// Numbers are f32 throughout or bf16 throughout; channels of the input come in multiples of 16. Single-threaded calls.
#include <cstdint>

#include "engine/cpu/kernels/stored.h"

namespace loom::cpu {

struct PixelGeometry {
  std::int64_t batch = 0;
  std::int64_t height = 0, width = 0, inputs = 0;                        // what a forward convolution reads
  std::int64_t outHeight = 0, outWidth = 0, outputs = 0;                 // what it writes
  std::int64_t kernelHeight = 1, kernelWidth = 1, down = 1, across = 1;  // strides
  std::int64_t top = 0, left = 0;  // padding before; behind it is whatever is read beyond

  std::int64_t taps() const { return kernelHeight * kernelWidth; }
  std::int64_t columns() const { return taps() * inputs; }
  std::int64_t pixels() const { return batch * outHeight * outWidth; }
  // Each pixel that is written reads the one in its place.
  bool isPlain() const {
    return taps() == 1 && down == 1 && across == 1 && top == 0 && left == 0 && height == outHeight && width == outWidth;
  }
};

// Of the matrix that has a row for each pixel that is written and, in `columns()`, what each tap reads for it
// ([tap][input]; 0 outside of the image): rows [first, last) and columns [firstColumn, lastColumn), packed as
// packPanels() does it or, where x is in bf16, packPanelsBf16(). `firstColumn` is a multiple of panelWidth().
void packPixels(const PixelGeometry& g, Stored x, std::int64_t first, std::int64_t last, std::int64_t firstColumn,
                std::int64_t lastColumn, float* packed);

// For a kernel of one tap: the inputs that `rows` rows of results read, from the first-th one of all samples on, behind
// each other; and back: what is read for no result, up to the next row that is, gets 0.
void gatherPixels(const PixelGeometry& g, Stored x, std::int64_t first, std::int64_t rows, Stored to);
void scatterPixels(const PixelGeometry& g, Stored from, std::int64_t first, std::int64_t rows, Stored x);

// dw (outputs x inputs x taps) = or += the sum of `parts` gradients (outputs x columns(), behind each other) in their
// order; of outputs [first, last).
void sumPixelGradients(const PixelGeometry& g, const float* sums, int parts, float* dw, bool add, std::int64_t first,
                       std::int64_t last);

}  // namespace loom::cpu
