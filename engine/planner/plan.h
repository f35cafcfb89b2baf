#pragma once
// What a run needs before it starts, counted from the very program that will run: memory by purpose and arithmetic per
// step. Counts only; of times see step_time.h.
#include <functional>
#include <string>
#include <vector>

#include "engine/base/json_fwd.h"
#include "engine/network/project.h"
#include "engine/program/program.h"

namespace loom {

struct CostPlan {
  std::int64_t parameters = 0;       // elements of the weights
  std::int64_t weightBytes = 0;      // f32
  std::int64_t gradientBytes = 0;    // f32, one for each weight
  std::int64_t optimizerBytes = 0;   // slots of the weights that the update changes
  std::int64_t copyBytes = 0;        // of weights that methods keep aside while a step's gradients are computed
  std::int64_t stateBytes = 0;       // running means and variances
  std::int64_t activationBytes = 0;  // the arena: one shard, forward and backward, with sharing by lifetime
  std::int64_t inputBytes =
      0;  // what stays beside it: one shard of every Input; a machine's results and packed weights
  std::int64_t recordBytes = 0;    // of layers that are recorded (setting `record_layers`), beside all that
  std::int64_t processBytes = 0;   // on a processor, in `total` alone: what the process holds that is no tensor
  double forwardMultiplyAdds = 0;  // of one step, all its passes
  double backwardMultiplyAdds = 0;
  // Where a memory budget asks that activations be computed again instead of kept:
  std::int64_t keptActivationBytes = 0;  // what activationBytes were if all were kept
  std::int64_t operationsAgain = 0;      // of one pass
  double againMultiplyAdds = 0;          // of one step, beside those of its two parts
  std::int64_t totalBytes() const;
};

// What a step of a program takes beside weights, gradients, slots and states.
struct StepMemory {
  std::int64_t activations = 0;  // the arena
  std::int64_t inputs = 0;       // what stays from step to step
  // What a memory budget changes: the arena if nothing were computed again, and what is.
  std::int64_t keptActivations = 0;
  std::int64_t operationsAgain = 0;
  double againMultiplyAdds = 0;
  std::int64_t record = 0;  // CostPlan::recordBytes
};
// A machine's own answer (Backend::measure); or, where no machine is at hand, that of row-major f32 without scratch
// memory: an estimate. planTraining() asks it once for each update, in their order.
using MemoryOf = std::function<StepMemory(const Program&)>;
StepMemory rowMajorMemory(const Program& program);

// One program. `slotsOf(parameter)` = slots of optimizer and methods that it gets; `passes` = times a step runs it.
CostPlan planCosts(const Program& program, const StepMemory& memory,
                   const std::function<int(const Parameter&)>& slotsOf, std::int64_t passes);

struct UpdatePlan {
  std::string network;
  std::string optimizer;
  std::int64_t batch = 0;   // samples of a step
  std::int64_t passes = 1;  // accumulation passes
  int computes = 1;         // times that a step computes its gradients
  std::int64_t shard = 0;   // samples computed at once
  CostPlan cost;
};

struct ProjectPlan {
  std::vector<UpdatePlan> updates;
  CostPlan total;  // weights that several updates use counted once; the arena is shared and as large as the largest
};

// Throws Error(badProject) where the project cannot be trained.
ProjectPlan planTraining(const Project& project, const MemoryOf& memoryOf = rowMajorMemory);

Json toJson(const ProjectPlan& plan);
std::string toText(const ProjectPlan& plan);

}  // namespace loom
