#include "engine/network/method_check.h"

#include "engine/optimizers/optimizer.h"

namespace loom {

std::optional<MethodRefusal> refusedMethods(const Project& project) {
  MethodCompany company{.settings = project.training.settings, .evaluates = {}};
  for (const UpdateSpec& update : project.training.updates) {
    if (!update.optimizer.is_object() || !update.optimizer.value("name", Json()).is_string()) continue;
    const OptimizerDefinition* rule = findOptimizer(update.optimizer["name"].get<std::string>());
    if (rule && rule->evaluates) company.evaluates.push_back(rule->entry.id);
  }
  return refusedMethods(company);
}

}  // namespace loom
