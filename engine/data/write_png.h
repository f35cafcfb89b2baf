#pragma once
// Images as PNG files, for importers and samples.
#include <cstddef>
#include <filesystem>
#include <span>

#include "engine/base/shape.h"

namespace loom {

// u8 values of C x H x W, C = 1 (grey), 2 (grey and alpha), 3 (RGB) or 4 (RGBA), as decodePng() gives them back.
// Throws Error(diskFull, inputOutput).
void writePng(const std::filesystem::path& path, std::span<const std::byte> image, const Shape& shape);

}  // namespace loom
