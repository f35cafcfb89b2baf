#include <png.h>

#include <csetjmp>
#include <cstring>

#include "engine/data/decode.h"
#include "engine/data/orientation.h"
#include "engine/data/plain_png.h"
#include "engine/data/planes.h"

namespace loom {
namespace {

// libpng reports by longjmp, which must not pass over a C++ object that needs its destructor: everything that owns
// memory stands outside of the function that calls setjmp.
struct PngReader {
  std::span<const std::byte> file;
  std::size_t at = 0;
  char message[200] = "";
  png_structp png = nullptr;
  png_infop info = nullptr;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }
};

void onError(png_structp png, png_const_charp message) {
  auto* reader = static_cast<PngReader*>(png_get_error_ptr(png));
  std::strncpy(reader->message, message, sizeof reader->message - 1);
  png_longjmp(png, 1);
}

void onWarning(png_structp, png_const_charp) {}

void onRead(png_structp png, png_bytep data, size_t bytes) {
  auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
  if (bytes > reader->file.size() - reader->at) png_error(png, "the file ends too early");
  std::memcpy(data, reader->file.data() + reader->at, bytes);
  reader->at += bytes;
}

struct PngHeader {
  png_uint_32 width = 0, height = 0;
  int channels = 0, depth = 0, passes = 1;
};

bool readHeader(PngReader& reader, PngHeader& header) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  png_read_info(reader.png, reader.info);
  const int color = png_get_color_type(reader.png, reader.info);
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(reader.png);
  if (color == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(reader.png, reader.info) < 8)
    png_set_expand_gray_1_2_4_to_8(reader.png);
  if (png_get_valid(reader.png, reader.info, PNG_INFO_tRNS)) png_set_tRNS_to_alpha(reader.png);
  header.passes = png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  header.width = png_get_image_width(reader.png, reader.info);
  header.height = png_get_image_height(reader.png, reader.info);
  header.channels = png_get_channels(reader.png, reader.info);
  header.depth = png_get_bit_depth(reader.png, reader.info);
  return true;
}

bool readRows(PngReader& reader, png_bytepp rows) {
  if (setjmp(png_jmpbuf(reader.png))) return false;
  png_read_image(reader.png, rows);
  png_read_end(reader.png, nullptr);
  return true;
}

[[noreturn]] void refuse(const PngReader& reader) {
  throw DecodeError(fmt::format("the PNG image is broken ({})", reader.message[0] ? reader.message : "unknown reason"),
                    "a whole image is needed", "write the file again");
}

}  // namespace

void decodeAnyPng(std::span<const std::byte> file, Sample& sample) {
  PngReader reader{.file = file};
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader, onError, onWarning);
  if (reader.png) reader.info = png_create_info_struct(reader.png);
  if (!reader.info) throwError(ErrorCode::internal, "libpng could not be started");
  png_set_read_fn(reader.png, &reader, onRead);
  png_set_user_limits(reader.png, 65535, 65535);
  png_set_chunk_malloc_max(reader.png, 8 << 20);  // comments and profiles that unpack to gigabytes
  png_set_chunk_cache_max(reader.png, 128);
  PngHeader header;
  if (!readHeader(reader, header)) refuse(reader);
  const bool wide = header.depth == 16;
  sample.kind = VariableKind::image;
  sample.shape = Shape{header.channels, header.height, header.width};
  sample.type = wide ? DataType::f32 : DataType::u8;
  checkSampleSize(sample.shape, sample.type, "the image");

  const std::size_t pixels = std::size_t{header.width} * header.height,
                    channels = static_cast<std::size_t>(header.channels);
  const std::size_t stride = std::size_t{header.width} * channels * (wide ? 2 : 1);
  sample.bytes.resize(pixels * channels * bytesOf(sample.type));
  const bool direct = channels == 1 && !wide;
  if (!direct) sample.work.resize(std::max(sample.work.size(), stride * header.height));
  std::byte* const to = direct ? sample.bytes.data() : sample.work.data();
  std::vector<png_bytep> rows(header.height);
  for (std::size_t y = 0; y < header.height; ++y) rows[y] = reinterpret_cast<png_bytep>(to + y * stride);
  if (!readRows(reader, rows.data())) refuse(reader);
  if (direct) return;
  if (!wide) return partPlanes(to, pixels, channels, channels, sample.bytes.data(), pixels);
  for (std::size_t c = 0; c < channels; ++c) {
    auto* out = reinterpret_cast<float*>(sample.bytes.data()) + c * pixels;
    const auto* in = reinterpret_cast<const unsigned char*>(to) + 2 * c;
    for (std::size_t i = 0; i < pixels; ++i, in += 2 * channels)
      out[i] = static_cast<float>(in[0] * 256 + in[1]) / 257.0f;
  }
}

namespace {

// Of the eXIf chunk, wherever it stands, in a file that was decoded.
int pngOrientation(std::span<const std::byte> file) {
  const auto number = [&](std::size_t at) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | std::to_integer<std::size_t>(file[at + i]);
    return value;
  };
  constexpr std::size_t kSignature = 8, kAround = 12;  // a chunk's length, its name, and its checksum behind it
  for (std::size_t at = kSignature; at + kAround <= file.size();) {
    const std::size_t size = number(at);
    if (size > file.size() - at - kAround) return 1;
    if (std::memcmp(&file[at + 4], "eXIf", 4) == 0) return orientationOf(file.subspan(at + 8, size));
    at += kAround + size;
  }
  return 1;
}

}  // namespace

void decodePng(std::span<const std::byte> file, Sample& sample) {
  if (!decodePlainPng(file, sample)) decodeAnyPng(file, sample);
  turnUpright(sample, pngOrientation(file));
}

}  // namespace loom
