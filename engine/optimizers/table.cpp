#include "engine/catalogue/text.h"
#include "engine/optimizers/optimizer.h"

namespace loom {

const OptimizerDefinition* findOptimizer(std::string_view name) {
  const std::string wanted = folded(name);
  for (const OptimizerDefinition* definition : optimizerTable()) {
    if (folded(definition->entry.id) == wanted) return definition;
    for (const std::string& alias : definition->entry.aliases)
      if (folded(alias) == wanted) return definition;
  }
  return nullptr;
}

}  // namespace loom
