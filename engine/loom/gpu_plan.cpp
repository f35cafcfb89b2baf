#include "engine/loom/gpu_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/base/error.h"
#include "engine/cuda/cuda_backend.h"
#include "engine/cuda/device.h"
#include "engine/cuda/module_device.h"
#include "engine/cuda/planned_device.h"
#include "engine/loom/planned_costs.h"
#include "engine/training/settings.h"

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
  PlannedCosts costs = plannedCosts(project, [&](Program program, const CompileOptions& options) {
    return stepCost(std::move(program), *gpu.device, options);
  });
  StepPrediction step = predictStep(costs.updates, settings.batch, settings.precision, gpu.model, efficiency);
  return {std::move(costs.memory), std::move(step)};
}

}  // namespace loom
