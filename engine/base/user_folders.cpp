#include "engine/base/user_folders.h"

#include <cstdlib>

namespace loom {

std::filesystem::path userCacheFolder() {
  if (const char* folder = std::getenv("XDG_CACHE_HOME"); folder && *folder)
    return std::filesystem::path(folder) / "gradloom";
  if (const char* home = std::getenv("HOME"); home && *home) return std::filesystem::path(home) / ".cache" / "gradloom";
  return std::filesystem::temp_directory_path() / "gradloom";
}

}  // namespace loom
