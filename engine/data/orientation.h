#pragma once
// How a camera was held, as EXIF says it: every viewer turns such a picture, so a sample is turned as well.
#include <span>

#include "engine/data/decode.h"

namespace loom {

// The orientation (1 to 8) that a TIFF structure, which EXIF is, gives for its first picture; 1, as it stands, where it
// gives none or is damaged.
int orientationOf(std::span<const std::byte> tiff);

// Turns and mirrors the planes of an image as the orientation says.
void turnUpright(Sample& sample, int orientation);

}  // namespace loom
