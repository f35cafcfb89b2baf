#pragma once
// Small files of every kind of cell, made without the decoders under test: by libpng, by libjpeg, or byte by byte.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace loom::files {

using Bytes = std::vector<unsigned char>;

// `colorType` as libpng names it; rows packed as PNG packs them. A palette has the two colours (10,20,30) and
// (40,50,60).
Bytes png(std::uint32_t width, std::uint32_t height, int bits, int colorType, const Bytes& pixels);
// A PNG that claims a size and holds no pixels.
Bytes pngHeader(std::uint32_t width, std::uint32_t height);
Bytes jpeg(unsigned width, unsigned height, int channels, const Bytes& pixels, int quality, bool progressive);
// Rows as they stand in the file, padded to four bytes; the palette as red, green, blue.
Bytes bmp(std::int32_t width, std::int32_t height, int bits, const Bytes& rows,
          const std::vector<std::array<unsigned char, 3>>& palette = {});
Bytes npy(std::string_view type, bool fortran, std::string_view shape, const Bytes& data);
Bytes wav(int format, int channels, int bits, const Bytes& data);
// By libsndfile, `format` as it names them (SF_FORMAT_FLAC | SF_FORMAT_PCM_16), 8000 frames a second.
Bytes sound(int format, int channels, const std::vector<float>& values);

}  // namespace loom::files
