#include <cmath>

#include "engine/data/byte_reader.h"
#include "engine/data/decode.h"

namespace loom {
namespace {

constexpr std::uint16_t kPcm = 1, kFloat = 3, kExtensible = 0xfffe;

struct Format {
  std::uint16_t code = 0, channels = 0, bits = 0, block = 0;
};

[[noreturn]] void refuseWav(std::string found, std::string wanted) {
  throw DecodeError("the WAV sound " + std::move(found), std::move(wanted), "save it again as PCM of 16 bits");
}

Format readFormat(ByteReader in, std::size_t size) {
  if (size < 16) refuseWav(fmt::format("describes its format in {} bytes", size), "at least 16 are needed");
  Format format;
  format.code = in.u16();
  format.channels = in.u16();
  in.u32();  // samples a second
  in.u32();  // bytes a second
  format.block = in.u16();
  format.bits = in.u16();
  if (format.code == kExtensible) {
    if (size < 40) refuseWav("has a short extensible format", "40 bytes are needed");
    in.seek(in.at() + 8);
    format.code = in.u16();  // first two bytes of the sub-format's GUID
  }
  const bool pcm =
      format.code == kPcm && (format.bits == 8 || format.bits == 16 || format.bits == 24 || format.bits == 32);
  const bool real = format.code == kFloat && (format.bits == 32 || format.bits == 64);
  if (!pcm && !real)
    refuseWav(fmt::format("has the format {} with {} bits", format.code, format.bits),
           "PCM of 8, 16, 24 or 32 bits or floats of 32 or 64 are read");
  if (format.channels == 0 || format.channels > 256)
    refuseWav(fmt::format("has {} channels", format.channels), "1 to 256 are read");
  if (format.block != format.channels * (format.bits / 8))
    refuseWav(fmt::format("has frames of {} bytes", format.block),
           fmt::format("{} channels of {} bits take {}", format.channels, format.bits,
                       format.channels * (format.bits / 8)));
  return format;
}

float valueAt(const unsigned char* p, const Format& format) {
  switch (format.bits) {
    case 8:
      return static_cast<float>(p[0] - 128) / 128.0f;
    case 16:
      return static_cast<float>(static_cast<std::int16_t>(p[0] | p[1] << 8)) / 32768.0f;
    case 24:
      return static_cast<float>(static_cast<std::int32_t>(static_cast<std::uint32_t>(p[0]) << 8 |
                                                          static_cast<std::uint32_t>(p[1]) << 16 |
                                                          static_cast<std::uint32_t>(p[2]) << 24) >>
                                8) /
             8388608.0f;
    case 32: {
      std::uint32_t bits = static_cast<std::uint32_t>(p[0]) | static_cast<std::uint32_t>(p[1]) << 8 |
                           static_cast<std::uint32_t>(p[2]) << 16 | static_cast<std::uint32_t>(p[3]) << 24;
      if (format.code == kPcm) return static_cast<float>(static_cast<std::int32_t>(bits)) / 2147483648.0f;
      float value;
      std::memcpy(&value, &bits, sizeof value);
      return value;
    }
    default: {
      double value;
      std::memcpy(&value, p, sizeof value);
      return static_cast<float>(value);
    }
  }
}

}  // namespace

void decodeWav(std::span<const std::byte> file, Sample& sample) {
  ByteReader in(file, "WAV sound");
  in.seek(12);  // "RIFF", size, "WAVE": looked at by the caller
  Format format;
  for (;;) {
    const std::string_view id = in.text(4);
    const std::size_t size = in.u32();
    if (id == "fmt ") {
      format = readFormat(ByteReader(in.take(size), "WAV sound's format"), size);
    } else if (id == "data") {
      if (format.bits == 0) refuseWav("has its data before its format", "the format must come first");
      const auto data = in.take(size);
      const std::int64_t frames = static_cast<std::int64_t>(size / format.block);
      sample.kind = VariableKind::wave;
      sample.type = DataType::f32;
      sample.shape = Shape{frames, format.channels};
      checkSampleSize(sample.shape, sample.type, "the sound");
      const std::size_t count = static_cast<std::size_t>(frames) * format.channels, step = format.bits / 8;
      sample.bytes.resize(count * sizeof(float));
      auto* out = reinterpret_cast<float*>(sample.bytes.data());
      const auto* p = reinterpret_cast<const unsigned char*>(data.data());
      for (std::size_t i = 0; i < count; ++i) out[i] = valueAt(p + i * step, format);
      return;
    } else {
      in.take(size);
    }
    if (size % 2 == 1) in.take(1);  // chunks begin at even places
  }
}

}  // namespace loom
