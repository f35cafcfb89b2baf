#include "engine/data/sample_files.h"

#include <algorithm>
#include <array>

namespace loom {
namespace {

using enum SampleFileKind;
constexpr std::array kEndings{
    SampleEnding{".png", picture, "a PNG image"},    SampleEnding{".jpg", picture, "a JPEG image"},
    SampleEnding{".jpeg", picture, "a JPEG image"},  SampleEnding{".bmp", picture, "a BMP image"},
    SampleEnding{".webp", picture, "a WebP image"},  SampleEnding{".tif", picture, "a TIFF image"},
    SampleEnding{".tiff", picture, "a TIFF image"},  SampleEnding{".gif", picture, "a GIF image"},
    SampleEnding{".heic", picture, "a HEIF image"},  SampleEnding{".heif", picture, "a HEIF image"},
    SampleEnding{".avif", picture, "an AVIF image"}, SampleEnding{".wav", sound, "a WAV sound"},
    SampleEnding{".flac", sound, "a FLAC sound"},    SampleEnding{".ogg", sound, "an OGG sound"},
    SampleEnding{".npy", array, "a NumPy array"},
};

}  // namespace

std::span<const SampleEnding> sampleEndings() {
  return kEndings;
}

const SampleEnding* sampleEndingOf(std::string_view name) {
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos || name.size() - dot > 6) return nullptr;
  const std::string_view ending = name.substr(dot);
  const auto same = [&](const SampleEnding& known) {
    return std::equal(ending.begin(), ending.end(), known.ending.begin(), known.ending.end(),
                      [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 0x20) : a) == b; });
  };
  const auto* const found = std::find_if(kEndings.begin(), kEndings.end(), same);
  return found == kEndings.end() ? nullptr : found;
}

}  // namespace loom
