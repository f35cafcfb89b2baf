// The PNGs that nearly all are, without libpng: its inflating (zlib's) and its filters take two to three times as long.
#include "engine/data/plain_png.h"

#include <libdeflate.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "engine/data/planes.h"
#include "engine/data/png_rows.h"

namespace loom {
namespace {

constexpr std::size_t kLongestChunk = std::size_t{8} << 20;  // libpng is told the same and refuses longer ones
constexpr std::size_t kMostExpansion = 1032;                 // of deflate: 258 bytes of two bits

struct PlainPng {
  std::size_t width = 0, height = 0;
  std::size_t each = 0;  // bytes a pixel, in the file
  bool palette = false;
  std::span<const std::byte> colours;                  // of the palette, three bytes each
  std::vector<std::span<const std::byte>> compressed;  // by chunk

  std::size_t stride() const { return width * each; }
  std::size_t channels() const { return palette ? 3 : each; }
};

using Chunk = std::span<const std::byte>;
using Colours = std::array<std::array<std::byte, 4>, 256>;

std::uint32_t bigEndian(const std::byte* from) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::uint32_t>(from[i]);
  return value;
}

// A letter, and of which case: what a reader must know of a chunk it does not.
bool isSmall(std::byte letter) {
  return letter >= std::byte{'a'} && letter <= std::byte{'z'};
}
bool isLetter(std::byte letter) {
  return isSmall(letter | std::byte{0x20});
}

bool readHeader(Chunk data, PlainPng& png) {
  if (data.size() != 13) return false;
  png.width = bigEndian(data.data());
  png.height = bigEndian(data.data() + 4);
  if (png.width < 1 || png.height < 1 || png.width > 65535 || png.height > 65535) return false;
  const auto number = [&](std::size_t i) { return std::to_integer<int>(data[i]); };
  if (number(8) != 8 || number(10) != 0 || number(11) != 0 || number(12) != 0) return false;
  switch (number(9)) {
    case 0:
      png.each = 1;
      return true;
    case 2:
      png.each = 3;
      return true;
    case 3:
      png.each = 1;
      return png.palette = true;
    case 4:
      png.each = 2;
      return true;
    case 6:
      png.each = 4;
      return true;
    default:
      return false;
  }
}

// Every chunk up to the end, whole and in the usual order. Nothing for all that needs a closer look.
std::optional<PlainPng> readChunks(std::span<const std::byte> file) {
  constexpr std::string_view kSignature("\x89PNG\r\n\x1a\n");
  if (file.size() < kSignature.size() || std::memcmp(file.data(), kSignature.data(), kSignature.size()) != 0) return {};
  PlainPng png;
  bool closed = false;  // a chunk of another kind followed the pixels
  for (std::size_t at = kSignature.size(), number = 0;; ++number) {
    if (file.size() < at || file.size() - at < 12) return {};
    const std::size_t size = bigEndian(file.data() + at);
    if (size > kLongestChunk || size > file.size() - at - 12) return {};
    const Chunk named = file.subspan(at + 4, size + 4), data = named.subspan(4);
    at += size + 12;
    if (libdeflate_crc32(0, named.data(), named.size()) != bigEndian(file.data() + at - 4)) return {};
    const std::string_view name(reinterpret_cast<const char*>(named.data()), 4);
    if ((name == "IHDR") != (number == 0)) return {};
    if (name == "IDAT") {
      if (closed || (png.palette && png.colours.empty())) return {};
      png.compressed.push_back(data);
      continue;
    }
    closed = !png.compressed.empty();
    if (name == "IHDR") {
      if (!readHeader(data, png)) return {};
    } else if (name == "PLTE") {
      if (!png.palette || closed || !png.colours.empty() || data.empty() || data.size() % 3 != 0 || data.size() > 768)
        return {};
      png.colours = data;
    } else if (name == "IEND") {
      if (!closed || !data.empty()) return {};
      return png;
    } else {
      // Transparency adds a channel. Of what else a reader need not know, nothing changes a pixel.
      for (const std::byte letter : named.first(4)) {
        if (!isLetter(letter)) return {};
      }
      if (!isSmall(named[0]) || isSmall(named[2]) || name == "tRNS") return {};
    }
  }
}

// The rows, each behind its filter's number, at `to`, which has room for exactly them.
bool inflateRows(const PlainPng& png, std::span<std::byte> joined, std::span<std::byte> to) {
  Chunk stream = png.compressed[0];
  if (png.compressed.size() > 1) {
    std::size_t used = 0;
    for (const Chunk part : png.compressed) {
      if (!part.empty()) std::memcpy(joined.data() + used, part.data(), part.size());
      used += part.size();
    }
    stream = joined;
  }
  if (stream.empty()) return false;
  // A stream may say that it looks back less far than 32 KB. zlib holds it to that, libdeflate does not.
  const auto windowBits = std::to_integer<unsigned>(stream[0] >> 4) + 8;
  if (windowBits < 15 && to.size() > std::size_t{1} << windowBits) return false;
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> inflater(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!inflater) return false;
  std::size_t read = 0;
  return libdeflate_zlib_decompress_ex(inflater.get(), stream.data(), stream.size(), to.data(), to.size(), &read,
                                       nullptr) == LIBDEFLATE_SUCCESS &&
         read == stream.size();
}

// The palette as pixels of four bytes; false where a row names a colour that is not there.
bool colourRow(const std::byte* row, std::size_t width, const Colours& colours, std::size_t count, std::byte* out) {
  std::size_t most = 0;
  for (std::size_t x = 0; x < width; ++x) {
    const auto index = std::to_integer<std::size_t>(row[x]);
    most = std::max(most, index);
    std::memcpy(out + 4 * x, colours[index].data(), 4);
  }
  return most < count;
}

}  // namespace

bool decodePlainPng(std::span<const std::byte> file, Sample& sample) {
  const std::optional<PlainPng> found = readChunks(file);
  if (!found) return false;
  const PlainPng& png = *found;
  const std::size_t rawBytes = (png.stride() + 1) * png.height;
  std::size_t packedBytes = 0;
  for (const Chunk part : png.compressed) packedBytes += part.size();
  const std::size_t sampleBytes = png.width * png.height * png.channels();
  if (rawBytes / kMostExpansion > packedBytes || sampleBytes > static_cast<std::size_t>(kLargestSample)) return false;

  // In turn: the inflated rows, two rows without filters, a row of a palette's colours, the joined chunks.
  const std::size_t rowBytes = png.stride() + kPngRowSlack, colourBytes = png.palette ? 4 * png.width : 0;
  const std::size_t rowsAt = rawBytes + kPngRowSlack, coloursAt = rowsAt + 2 * rowBytes,
                    joinedAt = coloursAt + colourBytes;
  const std::size_t joinedBytes = png.compressed.size() > 1 ? packedBytes : 0;
  sample.work.resize(std::max(sample.work.size(), joinedAt + joinedBytes));
  const std::span<std::byte> work(sample.work);
  if (!inflateRows(png, work.subspan(joinedAt, joinedBytes), work.first(rawBytes))) return false;

  Colours colours{};
  for (std::size_t i = 0; i < png.colours.size(); ++i) colours[i / 3][i % 3] = png.colours[i];
  sample.bytes.resize(sampleBytes);
  std::byte* row = work.data() + rowsAt;
  std::byte* above = row + rowBytes;
  std::memset(above, 0, rowBytes);
  for (std::size_t y = 0; y < png.height; ++y, std::swap(row, above)) {
    const std::byte* const filtered = work.data() + y * (png.stride() + 1);
    if (!undoPngFilter(std::to_integer<int>(filtered[0]), png.each, filtered + 1, above, row, png.stride()))
      return false;
    std::byte* const out = sample.bytes.data() + y * png.width;
    if (png.palette) {
      if (!colourRow(row, png.width, colours, png.colours.size() / 3, work.data() + coloursAt)) return false;
      partPlanes(work.data() + coloursAt, png.width, 4, 3, out, png.width * png.height);
    } else {
      partPlanes(row, png.width, png.each, png.each, out, png.width * png.height);
    }
  }
  sample.kind = VariableKind::image;
  sample.type = DataType::u8;
  sample.shape = Shape{static_cast<std::int64_t>(png.channels()), static_cast<std::int64_t>(png.height),
                       static_cast<std::int64_t>(png.width)};
  return true;
}

}  // namespace loom
