#pragma once
// A training's cost on this machine's processor.
#include "engine/network/project.h"
#include "engine/planner/plan.h"
#include "engine/planner/step_time.h"

namespace loom {

struct ProcessorPlan {
  ProjectPlan memory;
  ProcessorPrediction step;
};
// Every update's programs, compiled as `loom train --device cpu` compiles them. Throws what planTraining() and the
// compilation throw.
ProcessorPlan planOnProcessor(const Project& project, const ProcessorTimes& processor);

}  // namespace loom
