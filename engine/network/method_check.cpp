#include "engine/network/method_check.h"

#include <fmt/format.h>

#include "engine/optimizers/optimizer.h"

namespace loom {

namespace {

std::string nameOf(const Json& named) {
  if (!named.is_object()) return {};
  const auto name = named.find("name");
  return name != named.end() && name->is_string() ? name->get<std::string>() : std::string();
}

// A rule with weights to evaluate of its own; null: another one, or none.
const OptimizerDefinition* averagingRule(const UpdateSpec& update) {
  const OptimizerDefinition* rule = findOptimizer(nameOf(update.optimizer));
  return rule && rule->evaluates ? rule : nullptr;
}

bool givesOneRankEach(const UpdateSpec& update) {
  const OptimizerDefinition* rule = findOptimizer(nameOf(update.optimizer));
  if (!rule || !rule->products) return false;
  const auto given = update.optimizer.find("one_rank_each");
  return given != update.optimizer.end() && given->is_boolean() && given->get<bool>();
}

}  // namespace

std::optional<MethodRefusal> refusedMethods(const Project& project) {
  MethodCompany company{.settings = project.training.settings, .evaluates = {}};
  if (company.has("evaluated_weights", "average"))
    for (const UpdateSpec& update : project.training.updates)
      if (givesOneRankEach(update))
        return MethodRefusal{fmt::format("matrices that {} gives to one rank each have their averages there alone, so "
                                         "they cannot be evaluated by all; set evaluated_weights to last, or "
                                         "one_rank_each to false",
                                         nameOf(update.optimizer)),
                             "evaluated_weights", "last"};
  for (const UpdateSpec& update : project.training.updates)
    if (const OptimizerDefinition* rule = averagingRule(update)) company.evaluates.push_back(rule->entry.id);
  return refusedMethods(company);
}

std::string scheduleAdvice(const UpdateSpec& update) {
  const OptimizerDefinition* rule = averagingRule(update);
  const std::string schedule = nameOf(update.schedule);
  if (!rule || schedule.empty() || schedule == "Constant") return {};
  return fmt::format(
      "{} takes the rate down, which the average of {} does in its place: Constant with a warm-up is meant", schedule,
      rule->entry.id);
}

}  // namespace loom
