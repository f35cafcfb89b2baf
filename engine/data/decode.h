#pragma once
// A cell's file as numbers. Decoders trust nothing: every size is checked against the bytes that are there before
// memory is taken, and a fault is an Error(badData) that says what is wrong with the file (not where the cell stands:
// callers add that).
#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/data_type.h"
#include "engine/base/error.h"
#include "engine/base/shape.h"
#include "engine/data/dataset.h"

namespace loom {

struct Sample {
  VariableKind kind = VariableKind::image;
  Shape shape;
  DataType type = DataType::u8;
  int rate = 0;                  // of a sound: samples a second
  std::vector<std::byte> bytes;  // row-major; reused from one decode to the next
  std::vector<std::byte> work;   // what a decoder needs beside them, kept for the next one; means nothing afterwards
};

// The largest sample that is decoded, and so the most that a file of a few bytes can make us take.
inline constexpr std::int64_t kLargestSample = std::int64_t{256} << 20;

// Raised where the file itself is at fault; `remedy` stands apart so that a report can show it in a column of its own.
class DecodeError : public Error {
 public:
  DecodeError(std::string found, std::string wanted, std::string remedy)
      : Error(ErrorCode::badData, found + ", but " + wanted + "; " + remedy),
        m_found(std::move(found)),
        m_wanted(std::move(wanted)),
        m_remedy(std::move(remedy)) {}
  const std::string& found() const { return m_found; }
  const std::string& wanted() const { return m_wanted; }
  const std::string& remedy() const { return m_remedy; }

 private:
  std::string m_found, m_wanted, m_remedy;
};

// Reads and decodes one file; `scratch` is the buffer for its raw bytes. Throws Error(missingFile, inputOutput) and
// DecodeError.
void decodeFile(const std::filesystem::path& path, Sample& sample, std::vector<std::byte>& scratch);

// By content for images and sounds (a JPEG that is named .png is read as what it is), by the name's ending for all
// else.
void decodeBytes(std::span<const std::byte> file, std::string_view extension, Sample& sample);

// image: C x H x W of u8 (grey 1, grey and alpha 2, RGB 3, RGBA 4). PNGs of 16 bits become f32 of 0 ... 255, so that
// the steps made for 8 bits fit them; palettes become RGB, 1 to 4 bits of grey become 8.
void decodePng(std::span<const std::byte> file, Sample& sample);
// image: C x H x W of u8, grey 1 or RGB 3, turned as EXIF says. The slow integer transform: the same bytes on every
// machine.
void decodeJpeg(std::span<const std::byte> file, Sample& sample);
// image: 1, 4, 8, 16, 24 or 32 bits, without compression; a palette of greys gives one channel.
void decodeBmp(std::span<const std::byte> file, Sample& sample);
// image: C x H x W of u8, RGB 3 or RGBA 4, turned as EXIF says. No animations.
void decodeWebp(std::span<const std::byte> file, Sample& sample);
// image: the first and only picture; a palette of greys gives one channel, any other RGB.
void decodeGif(std::span<const std::byte> file, Sample& sample);
// image: C x H x W of u8 for 8 bits and for palettes, CMYK and what else libtiff turns into RGB; f32 of 0 ... 255 for
// 16 bits, f32 as they stand for floats. One page; turned as its orientation says.
void decodeTiff(std::span<const std::byte> file, Sample& sample);
// image: C x H x W of u8, RGB 3 or RGBA 4: HEIC, HEIF and AVIF, where libheif is there.
void decodeHeif(std::span<const std::byte> file, Sample& sample);
// matrix: the array's shape (rank 1 to 6), u8 stays u8, every other number becomes f32; either byte order, either order
// of axes.
void decodeNpy(std::span<const std::byte> file, Sample& sample);
// wave: samples x channels of f32 in [-1, 1). WAV with integers of 8, 16, 24 and 32 bits or floats of 32 and 64, FLAC,
// and OGG (Vorbis, Opus), whose numbers may lie a little outside.
void decodeSound(std::span<const std::byte> file, Sample& sample);
// matrix: rows x columns of f32 from numbers without a header.
void decodeMatrix(std::span<const std::byte> file, Sample& sample);

// Throws DecodeError where `shape` of `type` is larger than kLargestSample or has an extent below 1.
void checkSampleSize(const Shape& shape, DataType type, std::string_view what);
// Throws DecodeError where an element of f32 is not finite.
void checkFinite(const Sample& sample);

}  // namespace loom
