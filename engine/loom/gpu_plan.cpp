#include "engine/loom/gpu_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/base/error.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/device.h"
#include "engine/cuda/module_device.h"
#include "engine/cuda/planned_device.h"
#include "engine/training/settings.h"
#include "engine/training/update_program.h"

namespace loom {

namespace {

std::string known(std::string_view GpuModel::*what) {
  std::vector<std::string_view> all;
  for (const GpuModel& one : gpuModels()) all.push_back(one.*what);
  return fmt::format("{}", fmt::join(all, ", "));
}

}  // namespace

PlannedGpu openPlannedGpu(const std::string& device) {
  if (device == "cuda") {
    auto here = cuda::openCudaDevice();
    const std::string name = here->facts().name;
    if (const GpuModel* model = findGpuModel(name)) return {*model, std::move(here)};
    throwError(ErrorCode::device, "of '{}', the GPU that is here, no data sheet is known; those of {} are", name,
               known(&GpuModel::name));
  }
  const GpuModel* model = findGpuModel(device);
  if (model == nullptr)
    throwError(
        ErrorCode::badArgument,
        "unknown device '{}'; auto and cpu plan for this machine, cuda for its GPU, and {} for one that need not "
        "be here",
        device, known(&GpuModel::id));
  const auto bytes = static_cast<std::size_t>(model->memoryBytes);
  return {*model, cuda::makePlannedDevice({.name = std::string(model->name),
                                           .computeCapability = model->computeCapability,
                                           .multiprocessors = model->multiprocessors,
                                           .memoryBytes = bytes,
                                           .freeBytes = bytes})};
}

GpuPlan planOnGpu(const Project& project, const PlannedGpu& gpu, const GpuEfficiency& efficiency) {
  const TrainSettings settings = readSettings(project.training.settings);
  const std::vector<UpdateSpec>& updates = project.training.updates;
  std::vector<UpdateCost> costs;
  ProjectPlan memory = planTraining(project, [&](const Program& trained) {
    const auto index = static_cast<int>(costs.size());
    const UpdateSpec& update = updates[costs.size()];
    Recomputation told;
    const UpdateCost& cost = costs.emplace_back(
        UpdateCost{.pass = stepCost(trained, *gpu.device,
                                    {.precision = settings.precision,
                                     .tf32 = settings.tf32,
                                     .memoryBudget = settings.memoryBudget,
                                     .recomputation = &told}),
                   .update = stepCost(makeUpdateProgram(update, index, trained).program, *gpu.device, {}),
                   .passes = settings.accumulate,
                   .every = update.every});
    const BufferPlan::Extent &pass = cost.pass.memory, &step = cost.update.memory;
    return StepMemory{.activations = static_cast<std::int64_t>(std::max(pass.shared, step.shared)),
                      .inputs = static_cast<std::int64_t>(pass.lasting + step.lasting),
                      .keptActivations = static_cast<std::int64_t>(told.without),
                      .operationsAgain = told.operations,
                      .againMultiplyAdds = told.multiplyAdds};
  });
  StepPrediction step = predictStep(costs, settings.batch, settings.precision, gpu.model, efficiency);
  return {std::move(memory), std::move(step)};
}

}  // namespace loom
