#pragma once
// What a compiled program asks of the processor, counted in one place from its operations, its fusion and its stages: a
// lowering tells nothing of it.
#include <span>
#include <vector>

#include "engine/cpu/plan.h"
#include "engine/program/step_cost.h"

namespace loom::cpu {

struct Compiled {
  const Program& program;
  const Fusion& fusion;
  std::span<const Stage> stages;
  std::span<const Plan::Pack> packs;
  bool bf16 = false;                      // factors are rounded
  std::span<const double> measured = {};  // seconds by stage, and of all packs behind them; none: not measured
};
// An entry an operation with all its stages, and one a conversion, in the order in which they run; before them one of
// all packed weights.
std::vector<StageCost> costsOf(const Compiled& compiled);

}  // namespace loom::cpu
