#include "engine/loom/planned_costs.h"

#include <algorithm>

#include "engine/training/settings.h"
#include "engine/training/update_program.h"

namespace loom {

PlannedCosts plannedCosts(const Project& project,
                          const std::function<StepCost(Program, const CompileOptions&)>& costOf) {
  const TrainSettings settings = readSettings(project.training.settings);
  const std::vector<UpdateSpec>& updates = project.training.updates;
  std::vector<UpdateCost> costs;
  ProjectPlan memory = planTraining(project, [&](const Program& trained) {
    const auto index = static_cast<int>(costs.size());
    const UpdateSpec& update = updates[costs.size()];
    UpdateProgram made = makeUpdateProgram(update, index, trained,
                                           {.averageDecay = settings.averageDecay, .clipNorm = settings.clipNorm});
    StepCost step = costOf(std::move(made.program), {.threads = settings.threads});
    if (made.statistics) {
      const StepCost before = costOf(std::move(*made.statistics), {.threads = settings.threads});
      step.stages.insert(step.stages.begin(), before.stages.begin(), before.stages.end());
      step.memory.shared = std::max(step.memory.shared, before.memory.shared);
      step.memory.lasting += before.memory.lasting;
    }
    Recomputation told;
    const UpdateCost& cost =
        costs.emplace_back(UpdateCost{.pass = costOf(trained, {.precision = settings.precision,
                                                               .tf32 = settings.tf32,
                                                               .threads = settings.threads,
                                                               .memoryBudget = settings.memoryBudget,
                                                               .passes = settings.accumulate,
                                                               .recomputation = &told}),
                                      .update = std::move(step),
                                      .passes = settings.accumulate * settings.method.computes,
                                      .every = update.every});
    const BufferPlan::Extent &pass = cost.pass.memory, &own = cost.update.memory;
    return StepMemory{.activations = static_cast<std::int64_t>(std::max(pass.shared, own.shared)),
                      .inputs = static_cast<std::int64_t>(pass.lasting + own.lasting),
                      .keptActivations = static_cast<std::int64_t>(told.without),
                      .operationsAgain = told.operations,
                      .againMultiplyAdds = told.multiplyAdds};
  });
  return {std::move(memory), std::move(costs)};
}

}  // namespace loom
