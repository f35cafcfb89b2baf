// <jpeglib.h> needs these two before it.
// clang-format off
#include <cstddef>
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "engine/data/decode.h"
#include "engine/data/orientation.h"
#include "engine/data/planes.h"

namespace loom {
namespace {

// libjpeg-turbo can leave a byte unused in each pixel of four, which parts into planes with fewer steps than three do.
#if defined(JCS_EXTENSIONS)
constexpr J_COLOR_SPACE kColour = JCS_EXT_RGBX;
constexpr std::size_t kColourBytes = 4;
#else
constexpr J_COLOR_SPACE kColour = JCS_RGB;
constexpr std::size_t kColourBytes = 3;
#endif

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
// Other warnings are about words that no pixel depends on: some cameras write 0 as the end of the spectrum of a
// sequential scan, or marks and progressions of their own. Every viewer shows those pictures.
void onMessage(j_common_ptr common, int level) {
  if (level >= 0) return;
  const int code = common->err->msg_code;
  if (code != JWRN_NOT_SEQUENTIAL && code != JWRN_BOGUS_PROGRESSION && code != JWRN_JFIF_MAJOR &&
      code != JWRN_ADOBE_XFORM)
    onError(common);
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
  jpeg_save_markers(&reader.jpeg, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&reader.jpeg, TRUE);
  return true;
}

// libjpeg-turbo writes rows that begin at a multiple of 16 or 32 bytes past the cache, straight into memory, and
// reading them back at once then takes longer than all else that is done to them. A row that begins elsewhere stays in
// the cache.
constexpr std::size_t kPastCache = 32;
JSAMPROW besideAlignment(std::byte* memory) {
  const auto place = reinterpret_cast<std::uintptr_t>(memory);
  const std::size_t up = (kPastCache - place % kPastCache) % kPastCache;
  return reinterpret_cast<JSAMPROW>(memory + up + 8);
}

// Where rows go: `row` holds one of them, and colours are parted while it is in the cache.
struct RowsOut {
  JSAMPROW row = nullptr;  // none: grey, which needs no parting
  std::byte* planes = nullptr;
};

bool readRows(JpegReader& reader, jpeg_progress_mgr& progress, RowsOut out) {
  if (setjmp(reader.jump)) return false;
  jpeg_decompress_struct& jpeg = reader.jpeg;
  jpeg.progress = &progress;
  jpeg_start_decompress(&jpeg);
  const std::size_t width = jpeg.output_width, plane = width * jpeg.output_height;
  while (jpeg.output_scanline < jpeg.output_height) {
    std::byte* const place = out.planes + jpeg.output_scanline * width;
    JSAMPROW row = out.row ? out.row : reinterpret_cast<JSAMPROW>(place);
    jpeg_read_scanlines(&jpeg, &row, 1);
    if (out.row) partPlanes(reinterpret_cast<const std::byte*>(out.row), width, kColourBytes, 3, place, plane);
  }
  jpeg_finish_decompress(&jpeg);
  return true;
}

int orientationIn(jpeg_saved_marker_ptr marker) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  for (; marker; marker = marker->next) {
    const std::string_view text(reinterpret_cast<const char*>(marker->data), marker->data_length);
    if (marker->marker == JPEG_APP0 + 1 && text.starts_with(kExif))
      return orientationOf(std::as_bytes(std::span(text.substr(kExif.size()))));
  }
  return 1;
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
  jpeg.out_color_space = jpeg.num_components == 1 ? JCS_GRAYSCALE : kColour;
  jpeg.dct_method = JDCT_ISLOW;
  const int orientation = orientationIn(jpeg.marker_list);
  const std::size_t channels = static_cast<std::size_t>(jpeg.num_components);
  const std::size_t width = jpeg.image_width, height = jpeg.image_height, pixels = width * height;
  sample.kind = VariableKind::image;
  sample.type = DataType::u8;
  sample.shape = Shape{jpeg.num_components, static_cast<std::int64_t>(height), static_cast<std::int64_t>(width)};
  checkSampleSize(sample.shape, sample.type, "the image");

  sample.bytes.resize(pixels * channels);
  RowsOut out{.planes = sample.bytes.data()};
  if (channels == 3) {
    sample.work.resize(std::max(sample.work.size(), width * kColourBytes + kPastCache + 8));
    out.row = besideAlignment(sample.work.data());
  }
  jpeg_progress_mgr progress{};
  progress.progress_monitor = onProgress;
  if (!readRows(reader, progress, out)) refuse(reader);
  turnUpright(sample, orientation);
}

}  // namespace loom
