#include "engine/base/samples.h"

namespace loom {

bool liesAmongSamples(const std::filesystem::path& path) {
  std::error_code fault;
  std::filesystem::path at = std::filesystem::absolute(path, fault);
  if (const auto real = std::filesystem::weakly_canonical(at, fault); !fault) at = real;
  while (at.has_relative_path()) {
    at = at.parent_path();
    if (std::filesystem::exists(at / kSamplesMarker, fault)) return true;
  }
  return false;
}

}  // namespace loom
