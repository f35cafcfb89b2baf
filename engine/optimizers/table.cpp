#include "engine/catalogue/names.h"
#include "engine/optimizers/optimizer.h"

namespace loom {

const OptimizerDefinition* findOptimizer(std::string_view name) {
  return findNamed(optimizerTable(), name);
}

}  // namespace loom
