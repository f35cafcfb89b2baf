#pragma once
// Where a program may keep what is a person's and not a project's.
#include <filesystem>

namespace loom {

// For what can be made again: $XDG_CACHE_HOME/gradloom, ~/.cache/gradloom, or where there is neither a folder for
// temporary files. It need not exist.
std::filesystem::path userCacheFolder();

}  // namespace loom
