#pragma once
// The files that hold one sample each: which endings there are, and what stands behind each. The one list of them.
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace loom {

enum class SampleFileKind { picture, sound, array };

struct SampleEnding {
  std::string_view ending;  // with its dot, in small letters
  SampleFileKind kind;
  std::string_view content;  // as a message names what is expected: "a PNG image"
};

std::span<const SampleEnding> sampleEndings();

// The entry of a name's or a path's ending in any letters; nullptr where it is none of them.
const SampleEnding* sampleEndingOf(std::string_view name);

}  // namespace loom
