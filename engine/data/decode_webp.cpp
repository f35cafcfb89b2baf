#include <webp/decode.h>

#include "engine/data/byte_reader.h"
#include "engine/data/decode.h"
#include "engine/data/orientation.h"
#include "engine/data/planes.h"

namespace loom {
namespace {

[[noreturn]] void refuseWebp(std::string found, std::string wanted, std::string remedy = "write the file again") {
  throw DecodeError("the WebP image " + std::move(found), std::move(wanted), std::move(remedy));
}

// What a RIFF file says of a chunk's length has to hold: libwebp is content with less at the end. Gives the
// orientation of the EXIF chunk, which stands behind the pixels.
int webpOrientation(std::span<const std::byte> file) {
  ByteReader in(file, "WebP image");
  in.seek(12);  // "RIFF", size, "WEBP": looked at by the caller
  int orientation = 1;
  while (in.left() >= 8) {
    const std::string_view id = in.text(4);
    const std::size_t size = in.u32();
    std::span<const std::byte> chunk = in.take(size);
    if (size % 2 == 1 && in.left() > 0) in.take(1);
    if (id != "EXIF") continue;
    // Some writers keep the six bytes that stand before it in a JPEG.
    if (size > 6 && chunk[0] == std::byte{'E'} && chunk[1] == std::byte{'x'}) chunk = chunk.subspan(6);
    orientation = orientationOf(chunk);
  }
  return orientation;
}

}  // namespace

void decodeWebp(std::span<const std::byte> file, Sample& sample) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(file.data());
  WebPBitstreamFeatures features{};
  if (WebPGetFeatures(bytes, file.size(), &features) != VP8_STATUS_OK)
    refuseWebp("is broken (its head)", "a whole image is needed");
  if (features.has_animation != 0)
    refuseWebp("is an animation", "a single picture is needed", "save the picture that is meant as a file of its own");
  const int orientation = webpOrientation(file);
  const std::int64_t channels = features.has_alpha != 0 ? 4 : 3;
  sample.kind = VariableKind::image;
  sample.type = DataType::u8;
  sample.shape = Shape{channels, features.height, features.width};
  checkSampleSize(sample.shape, sample.type, "the image");
  const std::size_t each = static_cast<std::size_t>(channels);
  const std::size_t pixels = static_cast<std::size_t>(features.width) * static_cast<std::size_t>(features.height);
  sample.work.resize(std::max(sample.work.size(), pixels * each));
  auto* const packed = reinterpret_cast<std::uint8_t*>(sample.work.data());
  const int stride = features.width * static_cast<int>(channels);
  const std::uint8_t* const done = features.has_alpha != 0
                                       ? WebPDecodeRGBAInto(bytes, file.size(), packed, pixels * each, stride)
                                       : WebPDecodeRGBInto(bytes, file.size(), packed, pixels * each, stride);
  if (!done) refuseWebp("is broken (its pixels)", "a whole image is needed");
  sample.bytes.resize(pixels * each);
  partPlanes(sample.work.data(), pixels, each, each, sample.bytes.data(), pixels);
  turnUpright(sample, orientation);
}

}  // namespace loom
