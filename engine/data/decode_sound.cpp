#include <sndfile.h>

#include <algorithm>
#include <memory>

#include "engine/data/byte_reader.h"
#include "engine/data/decode.h"
#include "engine/data/text.h"

namespace loom {
namespace {

[[noreturn]] void refuseSound(std::string found, std::string wanted,
                              std::string remedy = "save it again as PCM of 16 bits") {
  throw DecodeError("the " + std::move(found), std::move(wanted), std::move(remedy));
}

void checkWavFormat(ByteReader in, std::size_t size) {
  constexpr std::uint16_t kPcm = 1, kFloat = 3, kExtensible = 0xfffe;
  if (size < 16) refuseSound(fmt::format("WAV sound describes its format in {} bytes", size), "at least 16 are needed");
  std::uint16_t code = in.u16();
  const std::uint16_t channels = in.u16();
  if (in.u32() == 0)
    refuseSound("WAV sound has 0 samples a second", "a rate is needed", "save it again with the rate of its recording");
  in.u32();  // bytes a second
  const std::uint16_t block = in.u16(), bits = in.u16();
  if (code == kExtensible) {
    if (size < 40) refuseSound("WAV sound has a short extensible format", "40 bytes are needed");
    in.seek(in.at() + 8);
    code = in.u16();  // first two bytes of the sub-format's GUID
  }
  const bool pcm = code == kPcm && (bits == 8 || bits == 16 || bits == 24 || bits == 32);
  const bool real = code == kFloat && (bits == 32 || bits == 64);
  if (!pcm && !real)
    refuseSound(fmt::format("WAV sound has the format {} with {} bits", code, bits),
                "PCM of 8, 16, 24 or 32 bits or floats of 32 or 64 are read");
  if (channels == 0 || channels > 256)
    refuseSound(fmt::format("WAV sound has {} channels", channels), "1 to 256 are read");
  if (block != channels * (bits / 8))
    refuseSound(fmt::format("WAV sound has frames of {} bytes", block),
                fmt::format("{} channels of {} bits take {}", channels, bits, channels * (bits / 8)));
}

// libsndfile makes the best of a file that was cut short or contradicts itself: a shorter sound, or another one. So
// what a WAV says of itself has to hold.
void checkWav(std::span<const std::byte> file) {
  // Who writes into a pipe does not know the length, and gives the largest there is (ffmpeg, sox): all up to the end.
  constexpr std::size_t kUnknown = 0x7ffff000;
  ByteReader in(file, "WAV sound");
  in.seek(12);  // "RIFF", size, "WAVE": looked at by the caller
  for (bool described = false;;) {
    const std::string_view id = in.text(4);
    const std::size_t size = in.u32();
    if (id == "data" && size >= kUnknown && size > in.left() && described) return;
    const auto chunk = in.take(size);
    if (id == "fmt ") {
      checkWavFormat(ByteReader(chunk, "WAV sound's format"), size);
      described = true;
    } else if (id == "data") {
      if (!described) refuseSound("WAV sound has its data before its format", "the format must come first");
      return;
    }
    if (size % 2 == 1) in.take(1);  // chunks begin at even places
  }
}

// Whole pages, of which the last one says that it is the last.
void checkOgg(std::span<const std::byte> file) {
  constexpr unsigned kLast = 4;
  ByteReader in(file, "OGG sound");
  unsigned flags = 0;
  while (in.left() > 0) {
    if (in.text(4) != "OggS")
      refuseSound(fmt::format("OGG sound has no page at byte {}", in.at() - 4), "one begins where another ends",
                  "it is damaged: write it again");
    const auto head = in.take(23);  // version, flags, place, stream, number, checksum, segments
    flags = std::to_integer<unsigned>(head[1]);
    std::size_t bytes = 0;
    for (const std::byte segment : in.take(std::to_integer<std::size_t>(head[22])))
      bytes += std::to_integer<std::size_t>(segment);
    in.take(bytes);
  }
  if ((flags & kLast) == 0)
    refuseSound(fmt::format("OGG sound ends after {} bytes", file.size()), "its last page is missing",
                "the file is cut short: write it again");
}

struct Source {
  std::span<const std::byte> bytes;
  sf_count_t at = 0;
};

SF_VIRTUAL_IO inMemory() {
  SF_VIRTUAL_IO calls{};
  calls.get_filelen = [](void* user) { return static_cast<sf_count_t>(static_cast<Source*>(user)->bytes.size()); };
  calls.seek = [](sf_count_t offset, int from, void* user) {
    auto& source = *static_cast<Source*>(user);
    const auto size = static_cast<sf_count_t>(source.bytes.size());
    const sf_count_t origin = from == SEEK_SET ? 0 : from == SEEK_CUR ? source.at : size;
    source.at = std::clamp<sf_count_t>(origin + std::clamp(offset, -size, size), 0, size);
    return source.at;
  };
  calls.read = [](void* to, sf_count_t count, void* user) {
    auto& source = *static_cast<Source*>(user);
    count = std::clamp<sf_count_t>(count, 0, static_cast<sf_count_t>(source.bytes.size()) - source.at);
    std::copy_n(source.bytes.data() + source.at, count, static_cast<std::byte*>(to));
    source.at += count;
    return count;
  };
  calls.tell = [](void* user) { return static_cast<Source*>(user)->at; };
  return calls;
}

}  // namespace

void decodeSound(std::span<const std::byte> file, Sample& sample) {
  const std::string_view start(reinterpret_cast<const char*>(file.data()), std::min<std::size_t>(file.size(), 64));
  std::string kind(kindByContent(start));  // "a WAV sound"
  kind.erase(0, kind.find(' ') + 1);
  if (start.starts_with("RIFF")) checkWav(file);
  if (start.starts_with("OggS")) checkOgg(file);
  Source source{file};
  SF_VIRTUAL_IO calls = inMemory();
  SF_INFO info{};
  const std::unique_ptr<SNDFILE, int (*)(SNDFILE*)> sound(sf_open_virtual(&calls, SFM_READ, &info, &source), sf_close);
  if (!sound) refuseSound(fmt::format("{} cannot be read", kind), sf_strerror(nullptr));
  sample.kind = VariableKind::wave;
  sample.type = DataType::f32;
  sample.rate = info.samplerate;
  sample.shape = Shape{info.frames, info.channels};
  checkSampleSize(sample.shape, sample.type, "the sound");
  sample.bytes.resize(static_cast<std::size_t>(sample.shape.elements()) * sizeof(float));
  const sf_count_t read = sf_readf_float(sound.get(), reinterpret_cast<float*>(sample.bytes.data()), info.frames);
  if (read != info.frames || sf_error(sound.get()) != SF_ERR_NO_ERROR)
    refuseSound(fmt::format("{} holds {} whole frames", kind, read), fmt::format("it announces {}", info.frames),
                "the file is damaged or cut short: write it again");
}

}  // namespace loom
