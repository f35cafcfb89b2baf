#include "engine/loom/processor_plan.h"

#include <algorithm>

#include "engine/cpu/cpu_backend.h"
#include "engine/loom/planned_costs.h"
#include "engine/training/settings.h"

namespace loom {
namespace {

// What a process that trains holds beside tensors, in what it held before: the pages of its own kernels that it reads,
// threads, and what was compiled; with convolutions also oneDNN's. From the peaks of `loom bench --plan` on Zen 3,
// 2026-11-24: 2.9, 3.6 and 5 MiB (mlp, lstm, gpt-mini), 6.6 and 8.4 (mnist-cnn, resnet20).
constexpr std::int64_t kProcess = 3 << 20, kConvolutions = 4 << 20;
std::int64_t processBytes(const std::vector<UpdateCost>& updates) {
  const bool convolves = std::ranges::any_of(updates, [](const UpdateCost& update) {
    return std::ranges::any_of(update.pass.stages,
                               [](const StageCost& stage) { return stage.kind == StageKind::convolution; });
  });
  return kProcess + (convolves ? kConvolutions : 0);
}

}  // namespace

ProcessorPlan planOnProcessor(const Project& project, const ProcessorTimes& processor) {
  const TrainSettings settings = readSettings(project.training.settings);
  PlannedCosts costs = plannedCosts(
      project, [](Program program, const CompileOptions& options) { return stepCost(std::move(program), options); });
  costs.memory.total.processBytes = processBytes(costs.updates);
  // The weights of before the step, which those behind it are compared with.
  for (UpdatePlan& update : costs.memory.updates)
    if (settings.recordLayers > 0) {
      update.cost.recordBytes += update.cost.gradientBytes;
      costs.memory.total.recordBytes += update.cost.gradientBytes;
    }
  return {std::move(costs.memory), predictStep(costs.updates, settings.batch, settings.precision, processor)};
}

}  // namespace loom
