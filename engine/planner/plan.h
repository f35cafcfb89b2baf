#pragma once
// What a run needs before it starts, counted from the very program that will run: memory by purpose and arithmetic per step.
// Counts only; times are measured, never invented.
#include <functional>
#include <string>
#include <vector>

#include "engine/base/json_fwd.h"
#include "engine/network/project.h"
#include "engine/program/memory_plan.h"

namespace loom {

struct CostPlan {
  std::int64_t parameters = 0;     // elements of the weights
  std::int64_t weightBytes = 0;    // f32
  std::int64_t gradientBytes = 0;  // f32, one for each weight
  std::int64_t optimizerBytes = 0; // slots of the weights that the update changes
  std::int64_t stateBytes = 0;     // running means and variances
  std::int64_t activationBytes = 0;  // the arena: one shard, forward and backward, with sharing by lifetime
  std::int64_t inputBytes = 0;     // one shard of every Input
  double forwardMultiplyAdds = 0;  // of one step, all its passes
  double backwardMultiplyAdds = 0;
  std::int64_t totalBytes() const;
};

// One program with its plan. `slotsOf(parameter)` = optimizer slots that it gets; `passes` = times a step runs it. The arena is
// that of row-major f32; a backend's own layouts and scratch memory come on top.
CostPlan planCosts(const Program& program, const MemoryPlan& memory, const std::function<int(const Parameter&)>& slotsOf, std::int64_t passes);

struct UpdatePlan {
  std::string network;
  std::string optimizer;
  std::int64_t batch = 0;   // samples of a step
  std::int64_t passes = 1;  // accumulation passes
  std::int64_t shard = 0;   // samples computed at once
  CostPlan cost;
};

struct ProjectPlan {
  std::vector<UpdatePlan> updates;
  CostPlan total;  // weights that several updates use counted once; arenas added up, each network has its own
};

// Throws Error(badProject) where the project cannot be trained.
ProjectPlan planTraining(const Project& project);

Json toJson(const ProjectPlan& plan);
std::string toText(const ProjectPlan& plan);

}  // namespace loom
