#pragma once
// A training's cost on a GPU, which need not be here.
#include <memory>
#include <string>

#include "engine/network/project.h"
#include "engine/planner/plan.h"
#include "engine/planner/step_time.h"

namespace loom {

namespace cuda {
class Device;
}

// "h100", "h200", "a100"; or "cuda", the GPU that is here, which must be one of these models. Throws Error
// (badArgument, device) with the choices.
struct PlannedGpu {
  GpuModel model;
  std::shared_ptr<cuda::Device> device;
};
PlannedGpu openPlannedGpu(const std::string& device);

struct GpuPlan {
  ProjectPlan memory;
  StepPrediction step;
};
// Every update's programs, compiled as `loom train --device cuda` compiles them. Throws what planTraining() and the
// compilation throw.
GpuPlan planOnGpu(const Project& project, const PlannedGpu& gpu, const GpuEfficiency& efficiency);

}  // namespace loom
