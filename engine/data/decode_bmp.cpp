#include <array>
#include <bit>

#include "engine/data/byte_reader.h"
#include "engine/data/decode.h"

namespace loom {
namespace {

struct Layout {
  std::int64_t width = 0, height = 0;
  bool topDown = false;
  int bits = 0;
  std::size_t pixels = 0;                            // offset of the first row
  std::array<std::uint32_t, 4> masks{};              // red, green, blue, alpha of 16 and 32 bits
  std::vector<std::array<std::uint8_t, 3>> palette;  // red, green, blue
};

[[noreturn]] void refuseBmp(std::string found, std::string wanted) {
  throw DecodeError("the BMP image " + std::move(found), std::move(wanted),
                    "save the image again as PNG or as a plain BMP");
}

Layout readLayout(std::span<const std::byte> file) {
  ByteReader in(file, "BMP image");
  Layout layout;
  in.seek(10);
  layout.pixels = in.u32();
  const std::size_t headerSize = in.u32();
  if (headerSize != 40 && headerSize != 52 && headerSize != 56 && headerSize != 108 && headerSize != 124)
    refuseBmp(fmt::format("has a header of {} bytes", headerSize), "40, 52, 56, 108 or 124 are known");
  layout.width = in.i32();
  layout.height = in.i32();
  if (layout.height < 0) {
    layout.topDown = true;
    layout.height = -layout.height;
  }
  in.u16();  // planes
  layout.bits = in.u16();
  const std::uint32_t compression = in.u32();
  in.u32();  // size of the pixels: often 0
  in.seek(in.at() + 8);
  std::size_t colors = in.u32();
  in.u32();
  const bool known = layout.bits == 1 || layout.bits == 4 || layout.bits == 8 || layout.bits == 16 ||
                     layout.bits == 24 || layout.bits == 32;
  if (!known) refuseBmp(fmt::format("has {} bits a pixel", layout.bits), "1, 4, 8, 16, 24 or 32 are known");
  const bool fields = compression == 3 || compression == 6;
  if (compression != 0 && !fields)
    refuseBmp(fmt::format("is compressed (method {})", compression), "only BMPs without compression are read");
  if (fields && layout.bits != 16 && layout.bits != 32)
    refuseBmp(fmt::format("names bit masks for {} bits a pixel", layout.bits), "16 or 32 are needed");
  if (layout.bits == 16) layout.masks = {0x7c00, 0x03e0, 0x001f, 0};
  if (layout.bits == 32) layout.masks = {0xff0000, 0xff00, 0xff, 0};
  if (fields) {
    for (int i = 0; i < (headerSize >= 56 || compression == 6 ? 4 : 3); ++i)
      layout.masks[static_cast<std::size_t>(i)] = in.u32();
    for (int i = 0; i < 3; ++i) {
      if (layout.masks[static_cast<std::size_t>(i)] == 0)
        refuseBmp("has a colour without bits", "three bit masks are needed");
    }
  }
  if (layout.bits <= 8) {
    in.seek(14 + headerSize);
    const std::size_t most = std::size_t{1} << layout.bits;
    if (colors == 0) colors = most;
    if (colors > most)
      refuseBmp(fmt::format("has a palette of {} colours", colors), fmt::format("at most {} are possible", most));
    for (std::size_t i = 0; i < colors; ++i) {
      const auto color = in.take(4);
      layout.palette.push_back({std::to_integer<std::uint8_t>(color[2]), std::to_integer<std::uint8_t>(color[1]),
                                std::to_integer<std::uint8_t>(color[0])});
    }
  }
  return layout;
}

// The bits under `mask`, stretched to 0 ... 255.
std::uint8_t field(std::uint32_t pixel, std::uint32_t mask) {
  const std::uint64_t most = mask >> std::countr_zero(mask);
  const std::uint64_t value = (pixel & mask) >> std::countr_zero(mask);
  return static_cast<std::uint8_t>((value * 255 + most / 2) / most);
}

}  // namespace

void decodeBmp(std::span<const std::byte> file, Sample& sample) {
  const Layout layout = readLayout(file);
  bool grey = layout.bits <= 8;
  for (const auto& color : layout.palette) grey = grey && color[0] == color[1] && color[1] == color[2];
  const std::int64_t channels = grey ? 1 : layout.masks[3] != 0 ? 4 : 3;
  sample.kind = VariableKind::image;
  sample.type = DataType::u8;
  sample.shape = Shape{channels, layout.height, layout.width};
  checkSampleSize(sample.shape, sample.type, "the image");
  if (layout.width > 65535 || layout.height > 65535)
    refuseBmp(fmt::format("has {} x {} pixels", layout.width, layout.height), "at most 65535 x 65535 are read");

  const std::size_t width = static_cast<std::size_t>(layout.width), height = static_cast<std::size_t>(layout.height),
                    pixels = width * height;
  const std::size_t stride = (width * static_cast<std::size_t>(layout.bits) + 31) / 32 * 4;
  ByteReader in(file, "BMP image");
  in.seek(layout.pixels);
  const auto rows = in.take(stride * height);
  sample.bytes.resize(pixels * static_cast<std::size_t>(channels));
  auto* const out = reinterpret_cast<std::uint8_t*>(sample.bytes.data());
  for (std::size_t y = 0; y < height; ++y) {
    const auto* row =
        reinterpret_cast<const std::uint8_t*>(rows.data()) + (layout.topDown ? y : height - 1 - y) * stride;
    for (std::size_t x = 0; x < width; ++x) {
      std::array<std::uint8_t, 4> color{};
      if (layout.bits <= 8) {
        const std::size_t perByte = 8 / static_cast<std::size_t>(layout.bits);
        const std::size_t shift = 8 - static_cast<std::size_t>(layout.bits) * (x % perByte + 1);
        const std::size_t index = row[x / perByte] >> shift & ((1u << layout.bits) - 1);
        if (index >= layout.palette.size())
          refuseBmp(fmt::format("uses colour {}", index), fmt::format("its palette has {}", layout.palette.size()));
        const auto& entry = layout.palette[index];
        color = {entry[0], entry[1], entry[2], 0};
      } else if (layout.bits == 24) {
        color = {row[3 * x + 2], row[3 * x + 1], row[3 * x], 0};
      } else {
        std::uint32_t pixel = row[x * static_cast<std::size_t>(layout.bits) / 8] |
                              row[x * static_cast<std::size_t>(layout.bits) / 8 + 1] << 8;
        if (layout.bits == 32)
          pixel |= static_cast<std::uint32_t>(row[4 * x + 2]) << 16 | static_cast<std::uint32_t>(row[4 * x + 3]) << 24;
        for (std::size_t c = 0; c < 4; ++c) color[c] = layout.masks[c] ? field(pixel, layout.masks[c]) : 0;
      }
      for (std::size_t c = 0; c < static_cast<std::size_t>(channels); ++c) out[c * pixels + y * width + x] = color[c];
    }
  }
}

}  // namespace loom
