#include "engine/base/words.h"

#include <fmt/format.h>

namespace loom {

std::string singular(std::string_view several) {
  const auto ends = [&](std::string_view end) {
    return several.size() > end.size() && several.substr(several.size() - end.size()) == end;
  };
  const auto without = [&](std::size_t letters) { return std::string(several.substr(0, several.size() - letters)); };
  if (several == "axes" || ends(" axes")) return without(2) + "is";
  if (ends("ies")) return without(3) + "y";
  for (const char* end : {"sses", "ches", "shes", "xes"})
    if (ends(end)) return without(2);
  return ends("s") && !ends("ss") ? without(1) : std::string(several);
}

std::string counted(std::int64_t count, std::string_view several) {
  return fmt::format("{} {}", count, count == 1 ? singular(several) : std::string(several));
}

}  // namespace loom
