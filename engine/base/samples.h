#pragma once
// Samples stay as they came: the program that opens or trains one puts its own files elsewhere. A folder of samples is
// known by the marker in it, so that a sample of any clone or package is known to any program, wherever that lies.
#include <filesystem>

namespace loom {

inline constexpr const char* kSamplesMarker = ".gradloom-samples";

// Whether the file or folder, which need not exist, lies within a folder of samples (not: is one).
bool liesAmongSamples(const std::filesystem::path& path);

}  // namespace loom
