#include "engine/catalogue/names.h"

#include <algorithm>

namespace loom {

std::string adviceOf(const Entry& entry, std::string_view name) {
  for (const Relative& relative : entry.relatives)
    if (folded(relative.name) == folded(name)) return relative.name + " " + relative.advice;
  return {};
}

bool hasAlias(const Entry& entry, std::string_view name) {
  return std::any_of(entry.aliases.begin(), entry.aliases.end(),
                     [wanted = folded(name)](const std::string& alias) { return folded(alias) == wanted; });
}

}  // namespace loom
