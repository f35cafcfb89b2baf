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
struct PngOptions {
  int filters = 0;           // as libpng names them (PNG_FILTER_PAETH ...); 0: what it chooses
  std::size_t chunk = 8192;  // bytes of compressed pixels a chunk
  unsigned colours = 2;      // of the palette: after the first two (3i, 3i + 1, 3i + 2)
  bool transparent = false;  // the first colour
  bool interlaced = false;
  std::vector<unsigned char> exif = {};  // of its eXIf chunk; empty: none
};
Bytes png(std::uint32_t width, std::uint32_t height, int bits, int colorType, const Bytes& pixels,
          const PngOptions& options = {});
// The check of every chunk as it must be, as far as the chunks can be told apart.
void mendPngChecks(Bytes& file);
// A PNG that claims a size and holds no pixels.
Bytes pngHeader(std::uint32_t width, std::uint32_t height);
// What libjpeg makes of a file: channels side by side.
Bytes readJpeg(const Bytes& file);
Bytes jpeg(unsigned width, unsigned height, int channels, const Bytes& pixels, int quality, bool progressive);
// Rows as they stand in the file, padded to four bytes; the palette as red, green, blue.
Bytes bmp(std::int32_t width, std::int32_t height, int bits, const Bytes& rows,
          const std::vector<std::array<unsigned char, 3>>& palette = {});
Bytes npy(std::string_view type, bool fortran, std::string_view shape, const Bytes& data);
Bytes wav(int format, int channels, int bits, const Bytes& data, int rate = 8000);
// By libsndfile, `format` as it names them (SF_FORMAT_FLAC | SF_FORMAT_PCM_16), 8000 frames a second.
Bytes sound(int format, int channels, const std::vector<float>& values);

}  // namespace loom::files
