#include <algorithm>
#include <cctype>

#include "engine/optimizers/optimizer.h"

namespace loom {
namespace {

bool sameWord(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

const OptimizerDefinition* findOptimizer(std::string_view name) {
  for (const OptimizerDefinition* definition : optimizerTable()) {
    if (sameWord(definition->entry.id, name)) return definition;
    for (const std::string& alias : definition->entry.aliases)
      if (sameWord(alias, name)) return definition;
  }
  return nullptr;
}

}  // namespace loom
