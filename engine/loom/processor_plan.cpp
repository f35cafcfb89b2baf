#include "engine/loom/processor_plan.h"

#include "engine/cpu/cpu_backend.h"
#include "engine/loom/planned_costs.h"
#include "engine/training/settings.h"

namespace loom {

ProcessorPlan planOnProcessor(const Project& project, const ProcessorTimes& processor) {
  const TrainSettings settings = readSettings(project.training.settings);
  PlannedCosts costs = plannedCosts(
      project, [](Program program, const CompileOptions& options) { return stepCost(std::move(program), options); });
  return {std::move(costs.memory), predictStep(costs.updates, settings.batch, settings.precision, processor)};
}

}  // namespace loom
