#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <memory>

#include "engine/data/decode.h"
#include "engine/data/orientation.h"
#include "engine/data/planes.h"

namespace loom {
namespace {

[[noreturn]] void refuseTiff(std::string found, std::string wanted, std::string remedy = "write the file again") {
  throw DecodeError("the TIFF image " + std::move(found), std::move(wanted), std::move(remedy));
}

// The file in memory, as libtiff asks for it, and the first fault that it told.
struct TiffSource {
  std::span<const std::byte> bytes;
  toff_t at = 0;
  std::string fault;
};

tmsize_t readTiffBytes(thandle_t user, void* to, tmsize_t count) {
  auto& source = *static_cast<TiffSource*>(user);
  if (source.at >= source.bytes.size() || count <= 0) return 0;
  const std::size_t size = std::min<std::size_t>(static_cast<std::size_t>(count), source.bytes.size() - source.at);
  std::memcpy(to, source.bytes.data() + source.at, size);
  source.at += size;
  return static_cast<tmsize_t>(size);
}
tmsize_t writeNoTiff(thandle_t, void*, tmsize_t) {
  return 0;
}
toff_t seekTiff(thandle_t user, toff_t offset, int from) {
  auto& source = *static_cast<TiffSource*>(user);
  source.at = offset + (from == SEEK_SET ? 0 : from == SEEK_CUR ? source.at : source.bytes.size());
  return source.at;
}
int closeTiff(thandle_t) {
  return 0;
}
toff_t sizeOfTiff(thandle_t user) {
  return static_cast<TiffSource*>(user)->bytes.size();
}

int keepTiffFault(TIFF*, void* user, const char*, const char* format, va_list values) {
  auto& source = *static_cast<TiffSource*>(user);
  char text[300] = "";
  std::vsnprintf(text, sizeof text, format, values);
  if (source.fault.empty()) source.fault = text;
  return 1;  // told: the library's own handler, which prints, is not called
}
int passOverTiff(TIFF*, void*, const char*, const char*, va_list) {
  return 1;
}

struct TiffCloser {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
  void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};
using Tiff = std::unique_ptr<TIFF, TiffCloser>;

Tiff openTiff(TiffSource& source) {
  const std::unique_ptr<TIFFOpenOptions, TiffCloser> options(TIFFOpenOptionsAlloc());
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keepTiffFault, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), passOverTiff, &source);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), static_cast<tmsize_t>(kLargestSample));
  return Tiff(TIFFClientOpenExt("picture", "rm", &source, readTiffBytes, writeNoTiff, seekTiff, closeTiff, sizeOfTiff,
                                nullptr, nullptr, options.get()));
}

[[noreturn]] void refuseBrokenTiff(const TiffSource& source) {
  refuseTiff(fmt::format("is broken ({})", source.fault.empty() ? "it ends too early" : source.fault),
             "a whole image is needed");
}

struct TiffLayout {
  std::uint32_t width = 0, height = 0;
  std::uint16_t bits = 1, channels = 1, format = SAMPLEFORMAT_UINT, planes = PLANARCONFIG_CONTIG, colours = 0;
};

TiffLayout tiffLayoutOf(TIFF* tiff) {
  TiffLayout layout;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &layout.width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &layout.height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &layout.bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &layout.channels);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &layout.format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &layout.planes);
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &layout.colours);
  return layout;
}

// Rows of numbers as they stand in the file: grey and colours of 8 or 16 bits or floats, in strips. The rest goes the
// library's own way, which gives 8 bits of red, green and blue.
bool standsInTiffRows(TIFF* tiff, const TiffLayout& layout) {
  const bool light = layout.colours == PHOTOMETRIC_MINISBLACK && layout.channels <= 2;
  const bool rgb = layout.colours == PHOTOMETRIC_RGB && (layout.channels == 3 || layout.channels == 4);
  const bool whole = layout.format == SAMPLEFORMAT_UINT && (layout.bits == 8 || layout.bits == 16);
  const bool real = layout.format == SAMPLEFORMAT_IEEEFP && layout.bits == 32;
  return (light || rgb) && (whole || real) && !TIFFIsTiled(tiff);
}

// Of 16 bits: f32 of 0 ... 255, as with PNG. Floats: as they stand.
void keepTiffRow(const TiffLayout& layout, const std::byte* row, std::size_t step, std::size_t width, std::byte* out) {
  if (layout.bits == 8) {
    for (std::size_t x = 0; x < width; ++x) out[x] = row[x * step];
    return;
  }
  auto* const numbers = reinterpret_cast<float*>(out);
  for (std::size_t x = 0; x < width; ++x) {
    if (layout.bits == 32) {
      std::memcpy(numbers + x, row + x * step * sizeof(float), sizeof(float));
      continue;
    }
    std::uint16_t value = 0;
    std::memcpy(&value, row + x * step * sizeof value, sizeof value);
    numbers[x] = static_cast<float>(value) / 257.0f;
  }
}

void readTiffRows(TIFF* tiff, const TiffLayout& layout, const TiffSource& source, Sample& sample) {
  sample.type = layout.bits == 8 ? DataType::u8 : DataType::f32;
  sample.shape = Shape{layout.channels, layout.height, layout.width};
  checkSampleSize(sample.shape, sample.type, "the image");
  const std::size_t width = layout.width, each = bytesOf(sample.type), channels = layout.channels;
  sample.bytes.resize(static_cast<std::size_t>(sample.shape.elements()) * each);
  const bool together = layout.planes == PLANARCONFIG_CONTIG;
  sample.work.resize(std::max(sample.work.size(), static_cast<std::size_t>(TIFFScanlineSize64(tiff))));
  const std::size_t inRow = layout.bits / 8;
  // One pass a plane where each has rows of its own.
  for (std::size_t plane = 0; plane < (together ? 1 : channels); ++plane) {
    for (std::uint32_t y = 0; y < layout.height; ++y) {
      if (TIFFReadScanline(tiff, sample.work.data(), y, static_cast<std::uint16_t>(plane)) < 0 || !source.fault.empty())
        refuseBrokenTiff(source);
      for (std::size_t c = together ? 0 : plane; c < (together ? channels : plane + 1); ++c)
        keepTiffRow(layout, sample.work.data() + (together ? c * inRow : 0), together ? channels : 1, width,
                    sample.bytes.data() + (c * layout.height + y) * width * each);
    }
  }
}

void readTiffColours(TIFF* tiff, const TiffLayout& layout, const TiffSource& source, Sample& sample) {
  if (layout.bits > 16 || layout.format > SAMPLEFORMAT_UINT)
    refuseTiff(fmt::format("has numbers of {} bits in this arrangement", layout.bits), "8 or 16 bits are needed",
               "save it again as PNG, or as .npy where the numbers matter");
  sample.type = DataType::u8;
  const bool grey = layout.colours <= PHOTOMETRIC_MINISBLACK && layout.channels == 1;
  sample.shape = Shape{grey ? 1 : 3, layout.height, layout.width};
  const std::size_t pixels = std::size_t{layout.width} * layout.height;
  checkSampleSize(Shape{4, layout.height, layout.width}, DataType::u8, "the image");
  sample.work.resize(std::max(sample.work.size(), pixels * 4));
  if (TIFFReadRGBAImageOriented(tiff, layout.width, layout.height, reinterpret_cast<std::uint32_t*>(sample.work.data()),
                                ORIENTATION_TOPLEFT, 1) != 1 ||
      !source.fault.empty())
    refuseBrokenTiff(source);
  const std::size_t channels = grey ? 1 : 3;
  sample.bytes.resize(pixels * channels);
  partPlanes(sample.work.data(), pixels, 4, channels, sample.bytes.data(), pixels);
}

// Pages beside reduced ones (previews), which cameras and editors add.
void checkOneTiffPage(TIFF* tiff, const TiffSource& source) {
  constexpr int kMost = 64;
  for (int page = 1; page < kMost && TIFFReadDirectory(tiff) == 1; ++page) {
    std::uint32_t kind = 0;
    TIFFGetField(tiff, TIFFTAG_SUBFILETYPE, &kind);
    if ((kind & FILETYPE_REDUCEDIMAGE) == 0)
      refuseTiff("has several pages", "a single picture is needed", "save each page as a file of its own");
  }
  if (!source.fault.empty()) refuseBrokenTiff(source);
}

}  // namespace

void decodeTiff(std::span<const std::byte> file, Sample& sample) {
  TiffSource source{file};
  const Tiff tiff = openTiff(source);
  if (!tiff) refuseBrokenTiff(source);
  const TiffLayout layout = tiffLayoutOf(tiff.get());
  if (layout.width == 0 || layout.height == 0 || !source.fault.empty()) refuseBrokenTiff(source);
  sample.kind = VariableKind::image;
  // As it lies in the file; turned below, as for every other format.
  const int orientation = orientationOf(file);
  TIFFSetField(tiff.get(), TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  if (standsInTiffRows(tiff.get(), layout))
    readTiffRows(tiff.get(), layout, source, sample);
  else
    readTiffColours(tiff.get(), layout, source, sample);
  checkOneTiffPage(tiff.get(), source);
  turnUpright(sample, orientation);
}

}  // namespace loom
