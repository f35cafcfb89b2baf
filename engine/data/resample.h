#pragma once
// Pictures of another size, and turned ones: the arithmetic of Pillow, so that a picture is the same whichever of the
// two prepares it.
#include "engine/data/prepare_step.h"

namespace loom {

// A piece of a picture.
struct PicturePiece {
  std::int64_t top = 0, left = 0, rows = 0, columns = 0;
};

// The piece, brought to `rows` x `columns`: bilinear, each pixel of a smaller picture the mean of all that it covers
// (antialiased). Bytes come out to the bit as Pillow's resize(BILINEAR) makes them. Throws DecodeError where the result
// is too large.
void resample(const PictureView& in, const PicturePiece& piece, std::int64_t rows, std::int64_t columns, Picture& out);

// Turned counterclockwise about its middle, in its own size; bilinear, `fill` where nothing was.
void rotate(const PictureView& in, double degrees, double fill, Picture& out);

}  // namespace loom
