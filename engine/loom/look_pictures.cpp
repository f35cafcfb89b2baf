#include "engine/loom/look_pictures.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/data/write_png.h"

namespace loom {
namespace {

constexpr std::int64_t kEdge = 256;
constexpr double kStrongest = 0.75;                                             // how much a colour covers
constexpr double kFor[] = {0xD0, 0x30, 0x24}, kAgainst[] = {0x24, 0x60, 0xD8};  // red, blue
constexpr std::int64_t kGap = 2;                                                // between tiles

// Brightness of the sample at a place, 0 to 255; grey where it is no picture.
double greyAt(const SampleLook& look, std::int64_t y, std::int64_t x, std::int64_t height, std::int64_t width) {
  if (look.picture.empty() || look.pictureShape.rank() != 3) return 96;
  const std::int64_t channels = std::min<std::int64_t>(look.pictureShape[0], 3), rows = look.pictureShape[1],
                     columns = look.pictureShape[2];
  double sum = 0;
  for (std::int64_t c = 0; c < channels; ++c)
    sum += static_cast<double>(
        look.picture[static_cast<std::size_t>((c * rows + y * rows / height) * columns + x * columns / width)]);
  return sum / static_cast<double>(channels);
}

}  // namespace

void writeMap(const std::filesystem::path& file, const SampleLook& look) {
  if (look.map.values.empty()) throwError(ErrorCode::badArgument, "there is no map to make a picture of");
  const bool row = look.shape.rank() < 2;
  const std::int64_t tall = row ? 1 : look.shape[-2], wide = look.shape.rank() == 0 ? 1 : look.shape[-1];
  const std::int64_t scale = std::max<std::int64_t>(1, kEdge / std::max(tall, wide));
  const std::int64_t height = std::max(tall * scale, row ? scale : 1), width = wide * scale;
  const SampleMap map = resized(look.map, height, width);
  double most = 0;
  for (const float each : map.values)
    if (std::isfinite(each)) most = std::max(most, std::abs(static_cast<double>(each)));
  std::vector<std::byte> pixels(static_cast<std::size_t>(3 * height * width));
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      const double value = map.values[static_cast<std::size_t>(y * width + x)];
      const double covers = most > 0 && std::isfinite(value) ? kStrongest * std::abs(value) / most : 0;
      const double grey = greyAt(look, y, x, height, width);
      for (std::int64_t c = 0; c < 3; ++c)
        pixels[static_cast<std::size_t>((c * height + y) * width + x)] =
            static_cast<std::byte>(std::lround(grey + covers * ((value > 0 ? kFor : kAgainst)[c] - grey)));
    }
  writePng(file, pixels, {3, height, width});
}

void writeTiles(const std::filesystem::path& file, const TensorSummary& layer) {
  if (layer.tiles == 0)
    throwError(ErrorCode::badArgument,
               "a layer of {} has no channels that are pictures: take one with rows and columns",
               layer.shape.toString());
  const std::int64_t across = static_cast<std::int64_t>(std::ceil(std::sqrt(layer.tiles)));
  const std::int64_t down = (layer.tiles + across - 1) / across;
  const std::int64_t scale = std::max<std::int64_t>(1, 64 / std::max(layer.tileHeight, layer.tileWidth));
  const std::int64_t tall = layer.tileHeight * scale, wide = layer.tileWidth * scale;
  const std::int64_t height = down * (tall + kGap) - kGap, width = across * (wide + kGap) - kGap;
  std::vector<std::byte> pixels(static_cast<std::size_t>(3 * height * width), std::byte{255});
  for (std::int64_t tile = 0; tile < layer.tiles; ++tile)
    for (std::int64_t y = 0; y < tall; ++y)
      for (std::int64_t x = 0; x < wide; ++x) {
        const auto at = static_cast<std::size_t>((tile * layer.tileHeight + y / scale) * layer.tileWidth + x / scale);
        const std::uint8_t value = layer.pixels[at];
        const std::int64_t top = tile / across * (tall + kGap) + y, left = tile % across * (wide + kGap) + x;
        for (std::int64_t c = 0; c < 3; ++c)
          pixels[static_cast<std::size_t>((c * height + top) * width + left)] =
              value == TensorSummary::kNotFinite ? static_cast<std::byte>(c == 0 ? 255 : 0)
                                                 : static_cast<std::byte>(value);
      }
  writePng(file, pixels, {3, height, width});
}

}  // namespace loom
