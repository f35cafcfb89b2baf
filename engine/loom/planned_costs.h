#pragma once
// What a training asks of a machine, from its programs as they would be compiled there.
#include <functional>
#include <vector>

#include "engine/planner/plan.h"
#include "engine/planner/step_time.h"
#include "engine/program/backend.h"

namespace loom {

struct PlannedCosts {
  ProjectPlan memory;
  std::vector<UpdateCost> updates;
};
// `costOf`: what one program asks of that machine; the options are those of the project. Throws what planTraining() and
// the compilation throw.
PlannedCosts plannedCosts(const Project& project,
                          const std::function<StepCost(Program, const CompileOptions&)>& costOf);

}  // namespace loom
