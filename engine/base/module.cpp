#include "engine/base/module.h"

#include <cstdlib>

namespace loom {

std::filesystem::path moduleNamed(const char* name, const char* variable) {
  if (const char* given = std::getenv(variable)) return given;
  std::error_code none;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
  for (const auto& candidate : {program / name, program / "../lib/gradloom" / name})
    if (std::filesystem::exists(candidate, none)) return candidate.lexically_normal();
  return program / name;
}

}  // namespace loom
