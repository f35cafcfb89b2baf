#pragma once
// What a compiled program asks of a machine in one step, counted from the plan that would run: after fusion, layout and
// storage types. How long that takes is engine/planner's to say (step_time.h, processor_times.h).
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/data_type.h"
#include "engine/program/buffer_plan.h"

namespace loom {

// What a stage's speed goes by. Memory: a pass over numbers; update: an optimizer's.
enum class StageKind { convolution, product, attention, recurrence, memory, update };
inline constexpr std::array<std::string_view, 6> kStageKindNames = {"convolution", "product", "attention",
                                                                    "recurrence",  "memory",  "update"};

// One call to the device; on a processor one operation with all its stages, or one conversion beside it.
struct StageCost {
  std::string op;      // the operation that it computes, or "convert", "deliver": what costs are summed under
  std::string kernel;  // as describe() names it
  std::string origin;  // the layer; empty for an update's
  StageKind kind = StageKind::memory;
  DataType factors = DataType::f32;  // what is multiplied, where something is
  bool tf32 = false;                 // f32 factors that may be rounded
  double read = 0, written = 0;      // bytes of memory that must be moved, each once
  double operations = 0;  // of products and convolutions; a multiply-add is two. What passes over memory is not counted
  int calls = 1;
  // Of a processor: logarithms to the base 2 of the extents that its speed goes by, each times what one doubling
  // matters. As many for one op, in one order.
  std::vector<double> sizes = {};
  // Bytes that the whole step moves, by whose it is that weights are still in a cache when they are read again. 0:
  // nobody said so.
  double step = 0;
  // The least processor time that one of its threads took for it, in seconds, where the executable counts it
  // (CompileOptions::profile); else 0.
  double measured = 0;
};

inline double bytesMoved(std::span<const StageCost> stages) {
  double sum = 0;
  for (const StageCost& stage : stages) sum += stage.read + stage.written;
  return sum;
}

struct StepCost {
  std::vector<StageCost> stages;  // in order
  BufferPlan::Extent memory;      // beside the store
  double uploaded = 0;            // bytes from the host: inputs and scalars, while the step before is computed
};

}  // namespace loom
