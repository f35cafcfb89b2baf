#include "tests/engine/data/sample_files.h"

#include <fmt/core.h>
// clang-format off: <jpeglib.h> needs these two before it
#include <jpeglib.h>

#include <cstddef>
#include <cstdio>
// clang-format on
#include <png.h>
#include <sndfile.h>
#include <zlib.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace loom::files {
namespace {

void little(Bytes& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<unsigned char>(value >> (8 * i)));
}

void text(Bytes& out, std::string_view value) {
  for (const char c : value) out.push_back(static_cast<unsigned char>(c));
}

void onWrite(png_structp png, png_bytep data, size_t size) {
  auto* out = static_cast<Bytes*>(png_get_io_ptr(png));
  out->insert(out->end(), data, data + size);
}

}  // namespace

Bytes png(std::uint32_t width, std::uint32_t height, int bits, int colorType, const Bytes& pixels,
          const PngOptions& options) {
  Bytes out;
  std::vector<png_bytep> rows;
  std::vector<png_color> colors{{10, 20, 30}, {40, 50, 60}};
  for (unsigned i = 2; i < options.colours; ++i)
    colors.push_back(
        {static_cast<png_byte>(3 * i), static_cast<png_byte>(3 * i + 1), static_cast<png_byte>(3 * i + 2)});
  png_structp writer = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(writer);
  if (setjmp(png_jmpbuf(writer))) throw std::runtime_error("libpng cannot write the image");
  png_set_write_fn(writer, &out, onWrite, nullptr);
  png_set_IHDR(writer, info, width, height, bits, colorType,
               options.interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (options.filters != 0) png_set_filter(writer, PNG_FILTER_TYPE_BASE, options.filters);
  png_set_compression_buffer_size(writer, options.chunk);
  png_set_check_for_invalid_index(writer, 0);
  if (colorType == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(writer, info, colors.data(), static_cast<int>(options.colours));
  const png_byte clear = 0;
  png_color_16 color{};
  if (options.transparent) png_set_tRNS(writer, info, &clear, 1, &color);
  Bytes exif = options.exif;
  if (!exif.empty()) png_set_eXIf_1(writer, info, static_cast<png_uint_32>(exif.size()), exif.data());
  png_write_info(writer, info);
  const std::size_t stride = pixels.size() / height;
  for (std::uint32_t y = 0; y < height; ++y) rows.push_back(const_cast<png_bytep>(pixels.data() + y * stride));
  png_write_image(writer, rows.data());
  png_write_end(writer, nullptr);
  png_destroy_write_struct(&writer, &info);
  return out;
}

void mendPngChecks(Bytes& file) {
  const auto number = [&](std::size_t at) {
    return static_cast<std::size_t>(file[at]) << 24 | static_cast<std::size_t>(file[at + 1]) << 16 |
           static_cast<std::size_t>(file[at + 2]) << 8 | file[at + 3];
  };
  for (std::size_t at = 8; at + 12 <= file.size();) {
    const std::size_t size = number(at);
    if (size > file.size() - at - 12) return;
    const auto check = static_cast<std::uint32_t>(crc32(0, file.data() + at + 4, static_cast<unsigned>(size + 4)));
    at += size + 12;
    for (std::size_t i = 0; i < 4; ++i) file[at - 4 + i] = static_cast<unsigned char>(check >> (24 - 8 * i));
  }
}

Bytes pngHeader(std::uint32_t width, std::uint32_t height) {
  Bytes out{0x89, 'P', 'N', 'G', 13, 10, 26, 10, 0, 0, 0, 13, 'I', 'H', 'D', 'R'};
  for (const std::uint32_t extent : {width, height}) {
    for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<unsigned char>(extent >> shift));
  }
  out.insert(out.end(), {8, 0, 0, 0, 0});
  const auto check = static_cast<std::uint32_t>(crc32(0, out.data() + 12, 17));
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<unsigned char>(check >> shift));
  const unsigned char rest[] = {0, 0, 0, 0, 'I', 'D', 'A', 'T', 0x35, 0xaf, 0x06, 0x1e};
  out.insert(out.end(), rest, rest + sizeof rest);
  return out;
}

Bytes jpeg(unsigned width, unsigned height, int channels, const Bytes& pixels, int quality, bool progressive) {
  jpeg_compress_struct writer{};
  jpeg_error_mgr errors{};
  writer.err = jpeg_std_error(&errors);
  jpeg_create_compress(&writer);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&writer, &memory, &size);
  writer.image_width = width;
  writer.image_height = height;
  writer.input_components = channels;
  writer.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&writer);
  jpeg_set_quality(&writer, quality, TRUE);
  if (progressive) jpeg_simple_progression(&writer);
  jpeg_start_compress(&writer, TRUE);
  while (writer.next_scanline < height) {
    JSAMPROW row =
        const_cast<unsigned char*>(pixels.data()) + writer.next_scanline * width * static_cast<unsigned>(channels);
    jpeg_write_scanlines(&writer, &row, 1);
  }
  jpeg_finish_compress(&writer);
  jpeg_destroy_compress(&writer);
  const Bytes out(memory, memory + size);
  std::free(memory);
  return out;
}

Bytes readJpeg(const Bytes& file) {
  jpeg_decompress_struct reader{};
  jpeg_error_mgr errors{};
  reader.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&reader);
  jpeg_mem_src(&reader, file.data(), file.size());
  jpeg_read_header(&reader, TRUE);
  jpeg_start_decompress(&reader);
  const std::size_t stride = std::size_t{reader.output_width} * static_cast<std::size_t>(reader.output_components);
  Bytes out(stride * reader.output_height);
  while (reader.output_scanline < reader.output_height) {
    JSAMPROW row = out.data() + reader.output_scanline * stride;
    jpeg_read_scanlines(&reader, &row, 1);
  }
  jpeg_finish_decompress(&reader);
  jpeg_destroy_decompress(&reader);
  return out;
}

Bytes bmp(std::int32_t width, std::int32_t height, int bits, const Bytes& rows,
          const std::vector<std::array<unsigned char, 3>>& palette) {
  Bytes out;
  text(out, "BM");
  little(out, 0, 4);
  little(out, 0, 4);
  little(out, static_cast<std::uint32_t>(54 + palette.size() * 4), 4);
  little(out, 40, 4);
  little(out, static_cast<std::uint32_t>(width), 4);
  little(out, static_cast<std::uint32_t>(height), 4);
  little(out, 1, 2);
  little(out, static_cast<std::uint32_t>(bits), 2);
  for (int i = 0; i < 4; ++i) little(out, 0, 4);
  little(out, static_cast<std::uint32_t>(palette.size()), 4);
  little(out, 0, 4);
  for (const auto& color : palette) out.insert(out.end(), {color[2], color[1], color[0], 0});
  out.insert(out.end(), rows.begin(), rows.end());
  return out;
}

Bytes npy(std::string_view type, bool fortran, std::string_view shape, const Bytes& data) {
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", type, fortran ? "True" : "False", shape);
  while ((header.size() + 11) % 64 != 0) header += ' ';
  header += '\n';
  Bytes out{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
  little(out, static_cast<std::uint32_t>(header.size()), 2);
  text(out, header);
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

Bytes sound(int format, int channels, const std::vector<float>& values) {
  struct Memory {
    Bytes bytes;
    sf_count_t at = 0;
  } memory;
  SF_VIRTUAL_IO calls{};
  calls.get_filelen = [](void* user) { return static_cast<sf_count_t>(static_cast<Memory*>(user)->bytes.size()); };
  calls.seek = [](sf_count_t offset, int from, void* user) {
    auto& to = *static_cast<Memory*>(user);
    return to.at = offset + (from == SEEK_SET   ? 0
                             : from == SEEK_CUR ? to.at
                                                : static_cast<sf_count_t>(to.bytes.size()));
  };
  calls.read = [](void*, sf_count_t, void*) -> sf_count_t { return 0; };
  calls.write = [](const void* data, sf_count_t count, void* user) {
    auto& to = *static_cast<Memory*>(user);
    to.bytes.resize(std::max(to.bytes.size(), static_cast<std::size_t>(to.at + count)));
    std::copy_n(static_cast<const unsigned char*>(data), count, to.bytes.begin() + to.at);
    to.at += count;
    return count;
  };
  calls.tell = [](void* user) { return static_cast<Memory*>(user)->at; };
  SF_INFO info{.frames = 0, .samplerate = 8000, .channels = channels, .format = format, .sections = 0, .seekable = 0};
  SNDFILE* file = sf_open_virtual(&calls, SFM_WRITE, &info, &memory);
  if (!file) throw std::runtime_error(sf_strerror(nullptr));
  // As integers, which it neither rounds nor scales.
  std::vector<int> numbers;
  for (const float value : values)
    numbers.push_back(static_cast<int>(std::clamp(static_cast<double>(value) * 0x1p31, -0x1p31, 0x1p31 - 1)));
  sf_writef_int(file, numbers.data(), static_cast<sf_count_t>(numbers.size()) / channels);
  sf_close(file);
  return memory.bytes;
}

Bytes wav(int format, int channels, int bits, const Bytes& data, int rate) {
  Bytes out;
  text(out, "RIFF");
  little(out, static_cast<std::uint32_t>(36 + data.size()), 4);
  text(out, "WAVEfmt ");
  little(out, 16, 4);
  little(out, static_cast<std::uint32_t>(format), 2);
  little(out, static_cast<std::uint32_t>(channels), 2);
  little(out, static_cast<std::uint32_t>(rate), 4);
  little(out, static_cast<std::uint32_t>(rate * channels * bits / 8), 4);
  little(out, static_cast<std::uint32_t>(channels * (bits / 8)), 2);
  little(out, static_cast<std::uint32_t>(bits), 2);
  text(out, "data");
  little(out, static_cast<std::uint32_t>(data.size()), 4);
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

}  // namespace loom::files
