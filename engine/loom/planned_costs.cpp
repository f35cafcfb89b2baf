#include "engine/loom/planned_costs.h"

#include <algorithm>

#include "engine/network/flatten.h"
#include "engine/training/layer_recorder.h"
#include "engine/training/settings.h"
#include "engine/training/update_program.h"

namespace loom {

PlannedCosts plannedCosts(const Project& project,
                          const std::function<StepCost(Program, const CompileOptions&)>& costOf) {
  const TrainSettings settings = readSettings(project.training.settings);
  const std::vector<UpdateSpec>& updates = project.training.updates;
  std::vector<UpdateCost> costs;
  const FlatNetworks networks(project);
  const auto samples =
      (settings.largestBatch() + settings.accumulate - 1) / std::max<std::int64_t>(1, settings.accumulate);
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
    UpdateCost& cost = costs.emplace_back(UpdateCost{.pass = costOf(trained, {.precision = settings.precision,
                                                                              .tf32 = settings.tf32,
                                                                              .threads = settings.threads,
                                                                              .memoryBudget = settings.memoryBudget,
                                                                              .passes = settings.accumulate,
                                                                              .recomputation = &told}),
                                                     .update = std::move(step),
                                                     .passes = settings.accumulate * settings.method.computes,
                                                     .every = update.every});
    const BufferPlan::Extent &pass = cost.pass.memory, &own = cost.update.memory;
    std::int64_t record = 0;
    if (settings.recordLayers > 0) {
      cost.recordEvery = settings.recordLayers;
      cost.recordPasses = settings.accumulate;
      cost.record = costOf(recordingProgram(trainedPart(*networks.find(update.network)), samples, settings.seed),
                           {.threads = settings.deterministic ? 1 : settings.threads});
      // It has the arena of the others.
      const std::size_t arena = std::max(pass.shared, own.shared), seen = cost.record.memory.shared;
      record = static_cast<std::int64_t>(cost.record.memory.lasting + (seen > arena ? seen - arena : 0));
    }
    return StepMemory{.activations = static_cast<std::int64_t>(std::max(pass.shared, own.shared)),
                      .inputs = static_cast<std::int64_t>(pass.lasting + own.lasting),
                      .keptActivations = static_cast<std::int64_t>(told.without),
                      .operationsAgain = told.operations,
                      .againMultiplyAdds = told.multiplyAdds,
                      .record = record};
  });
  return {std::move(memory), std::move(costs)};
}

}  // namespace loom
