// clang-format off: jpeglib.h needs these two before it
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "engine/data/decode.h"

namespace loom {
namespace {

// As with libpng: what owns memory stands outside of the functions that call setjmp.
struct JpegReader {
  jpeg_decompress_struct jpeg{};
  jpeg_error_mgr errors{};
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX] = "";
  int scans = 0;
  ~JpegReader() { jpeg_destroy_decompress(&jpeg); }
};

[[noreturn]] void onError(j_common_ptr common) {
  auto* reader = static_cast<JpegReader*>(common->client_data);
  common->err->format_message(common, reader->message);
  std::longjmp(reader->jump, 1);
}

// libjpeg calls a file that ends early or holds damaged data a warning and paints the rest grey: garbage to train on.
void onMessage(j_common_ptr common, int level) {
  if (level < 0) onError(common);
}

// A progressive file of a few kilobytes may hold thousands of scans over a large image: hours of work.
void onProgress(j_common_ptr common) {
  auto* reader = static_cast<JpegReader*>(common->client_data);
  if (common->is_decompressor && reader->jpeg.input_scan_number > 200) {
    std::strcpy(reader->message, "more than 200 scans");
    std::longjmp(reader->jump, 1);
  }
}

bool readHeader(JpegReader& reader, std::span<const std::byte> file) {
  if (setjmp(reader.jump)) return false;
  jpeg_create_decompress(&reader.jpeg);
  jpeg_mem_src(&reader.jpeg, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&reader.jpeg, TRUE);
  return true;
}

bool readRows(JpegReader& reader, jpeg_progress_mgr& progress, JSAMPROW* rows) {
  if (setjmp(reader.jump)) return false;
  reader.jpeg.progress = &progress;
  jpeg_start_decompress(&reader.jpeg);
  while (reader.jpeg.output_scanline < reader.jpeg.output_height)
    jpeg_read_scanlines(&reader.jpeg, rows + reader.jpeg.output_scanline,
                        reader.jpeg.output_height - reader.jpeg.output_scanline);
  jpeg_finish_decompress(&reader.jpeg);
  return true;
}

[[noreturn]] void refuse(const JpegReader& reader) {
  throw DecodeError(fmt::format("the JPEG image is broken ({})", reader.message), "a whole image is needed",
                    "write the file again");
}

}  // namespace

void decodeJpeg(std::span<const std::byte> file, Sample& sample) {
  JpegReader reader;
  reader.jpeg.err = jpeg_std_error(&reader.errors);
  reader.errors.error_exit = onError;
  reader.errors.emit_message = onMessage;
  reader.jpeg.client_data = &reader;
  if (!readHeader(reader, file)) refuse(reader);
  jpeg_decompress_struct& jpeg = reader.jpeg;
  if (jpeg.num_components != 1 && jpeg.num_components != 3)
    throw DecodeError(fmt::format("the JPEG image has {} channels (CMYK)", jpeg.num_components),
                      "grey (1) or colour (3) is needed", "convert the image to RGB");
  jpeg.out_color_space = jpeg.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg.dct_method = JDCT_ISLOW;
  const std::size_t channels = static_cast<std::size_t>(jpeg.num_components);
  const std::size_t width = jpeg.image_width, height = jpeg.image_height, pixels = width * height;
  sample.kind = VariableKind::image;
  sample.type = DataType::u8;
  sample.shape = Shape{jpeg.num_components, static_cast<std::int64_t>(height), static_cast<std::int64_t>(width)};
  checkSampleSize(sample.shape, sample.type, "the image");

  sample.bytes.resize(pixels * channels);
  std::vector<std::byte> packed(channels == 1 ? 0 : pixels * channels);
  std::byte* const to = channels == 1 ? sample.bytes.data() : packed.data();
  std::vector<JSAMPROW> rows(height);
  for (std::size_t y = 0; y < height; ++y) rows[y] = reinterpret_cast<JSAMPROW>(to + y * width * channels);
  jpeg_progress_mgr progress{};
  progress.progress_monitor = onProgress;
  if (!readRows(reader, progress, rows.data())) refuse(reader);
  for (std::size_t c = 0; c < channels && channels > 1; ++c) {
    std::byte* out = sample.bytes.data() + c * pixels;
    const std::byte* in = packed.data() + c;
    for (std::size_t i = 0; i < pixels; ++i) out[i] = in[i * channels];
  }
}

}  // namespace loom
