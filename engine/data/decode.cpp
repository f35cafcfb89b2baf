#include "engine/data/decode.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "engine/base/files.h"
#include "engine/data/sample_files.h"
#include "engine/data/text.h"

namespace loom {
namespace {

std::string lowered(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

void readWhole(const std::filesystem::path& path, std::vector<std::byte>& bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // never waits for a pipe's other end
  if (file < 0) throwErrno(errno, "read", path);
  struct Closer {
    int file;
    ~Closer() { ::close(file); }
  } closer{file};
  struct stat status {};
  if (::fstat(file, &status) != 0) throwErrno(errno, "read", path);
  if (!S_ISREG(status.st_mode))
    throw DecodeError("this is a folder or a device", "a file is needed", "name the file itself");
  if (status.st_size > 2 * kLargestSample)
    throw DecodeError(fmt::format("the file has {}", sizeText(static_cast<std::uintmax_t>(status.st_size))),
                      fmt::format("at most {} are read for one sample", sizeText(2 * kLargestSample)),
                      "cut it into smaller samples");
  bytes.resize(static_cast<std::size_t>(status.st_size));
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file, bytes.data() + have, bytes.size() - have);
    if (got < 0) {
      if (errno == EINTR) continue;
      throwErrno(errno, "read", path);
    }
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
}

}  // namespace

void checkSampleSize(const Shape& shape, DataType type, std::string_view what) {
  std::int64_t bytes = static_cast<std::int64_t>(bytesOf(type));
  for (const std::int64_t extent : shape) {
    if (extent < 1)
      throw DecodeError(fmt::format("{} has the shape {}", what, shape.toString()), "every extent must be at least 1",
                        "remove this sample");
    if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > kLargestSample)
      throw DecodeError(fmt::format("{} has the shape {}", what, shape.toString()),
                        fmt::format("one sample may take at most {}", sizeText(kLargestSample)),
                        "make it smaller or cut it into pieces");
  }
}

void checkFinite(const Sample& sample) {
  if (sample.type != DataType::f32) return;
  const std::size_t count = sample.bytes.size() / sizeof(float);
  const auto* values = reinterpret_cast<const float*>(sample.bytes.data());
  // x - x is 0 for what is finite and NaN for the rest: one pass without a branch.
  float sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += values[i] - values[i];
  if (sum == 0) return;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(values[i]))
      throw DecodeError(fmt::format("value {} of {} is {}", i, count, std::isnan(values[i]) ? "NaN" : "infinite"),
                        "training needs finite numbers within float32", "correct the file or remove this sample");
  }
}

void decodeBytes(std::span<const std::byte> file, std::string_view extension, Sample& sample) {
  const std::string_view start(reinterpret_cast<const char*>(file.data()), std::min<std::size_t>(file.size(), 64));
  const std::string_view content = kindByContent(start);
  const std::string ending = lowered(extension);
  const SampleEnding* const known = sampleEndingOf(ending);
  const auto wrongKind = [&](std::string_view wanted) {
    if (content == "a pointer of Git LFS")
      throw DecodeError("this is a pointer of Git LFS, not the file itself", fmt::format("{} is needed", wanted),
                        "run git lfs pull in its folder");
    throw DecodeError(file.empty() ? "the file is empty"
                                   : fmt::format("the file is {}", content.empty() ? "of an unknown kind" : content),
                      fmt::format("its name ends in {}: {} is needed", ending, wanted),
                      "write it again in that format or rename it");
  };
  if (known && known->kind == SampleFileKind::picture) {
    using Decoder = void (*)(std::span<const std::byte>, Sample&);
    constexpr std::pair<std::string_view, Decoder> decoders[] = {
        {"a PNG image", decodePng},   {"a JPEG image", decodeJpeg}, {"a BMP image", decodeBmp},
        {"a WebP image", decodeWebp}, {"a TIFF image", decodeTiff}, {"a GIF image", decodeGif},
        {"a HEIF image", decodeHeif}, {"an AVIF image", decodeHeif}};
    for (const auto& [name, decode] : decoders)
      if (content == name) return decode(file, sample);
    wrongKind(known->content);
  } else if (known && known->kind == SampleFileKind::array) {
    if (content != known->content) wrongKind(known->content);
    decodeNpy(file, sample);
  } else if (known) {
    if (!content.ends_with(" sound")) wrongKind(known->content);
    decodeSound(file, sample);
  } else if (ending == ".csv") {
    if (!content.empty()) wrongKind("text with numbers");
    decodeMatrix(file, sample);
  } else {
    std::string endings;
    for (const SampleEnding& each : sampleEndings()) endings += fmt::format("{}, ", each.ending);
    throw DecodeError(ending.empty() ? "the name has no ending" : fmt::format("the name ends in '{}'", ending),
                      fmt::format("files of samples end in {}or .csv", endings), "convert the file to one of these");
  }
  checkFinite(sample);
}

void decodeFile(const std::filesystem::path& path, Sample& sample, std::vector<std::byte>& scratch) {
  readWhole(path, scratch);
  sample.rate = 0;
  decodeBytes(scratch, path.extension().native(), sample);
}

}  // namespace loom
