#pragma once
// The PNGs that nearly all are (8 bits, not interlaced, no transparent colour, nothing wrong with them), without
// libpng.
#include <cstddef>
#include <span>

#include "engine/data/decode.h"

namespace loom {

// The very bytes that decodeAnyPng() gives. False for every other PNG and for every doubt: libpng then decides, and
// says what is wrong. `sample` means nothing then.
bool decodePlainPng(std::span<const std::byte> file, Sample& sample);

// By libpng, whatever it is. Throws DecodeError.
void decodeAnyPng(std::span<const std::byte> file, Sample& sample);

}  // namespace loom
