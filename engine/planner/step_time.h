#pragma once
// How long a step takes, on a GPU or a processor: predicted from what its stages move and compute
// (engine/program/step_cost.h), never measured here. The device's time alone: what a GPU's host adds and what ranks
// exchange is not in it.
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/base/json_fwd.h"
#include "engine/planner/gpu_model.h"
#include "engine/planner/plan.h"
#include "engine/planner/processor_times.h"
#include "engine/program/step_cost.h"

namespace loom {

// One update of `training`: what computes gradients, `passes` times a step, and the optimizer's step behind it; both in
// every `every`-th step.
struct UpdateCost {
  StepCost pass, update;
  std::int64_t passes = 1, every = 1;
  // What a look at the layers costs (setting `record_layers`), in each `recordEvery`-th step; 0: never.
  StepCost record = {};
  std::int64_t recordPasses = 1, recordEvery = 0;
};
inline constexpr const char* kRecordedOp = "layers recorded";  // what those stages are summed under

// All stages of one op, in a mean step.
struct OpTime {
  std::string op;
  double stages = 0;
  double bytes = 0;       // read and written
  double operations = 0;  // of products and convolutions
  double seconds = 0;
};

struct StepTimes {
  DataType precision = DataType::f32;
  std::int64_t batch = 0;   // samples of a step
  std::vector<OpTime> ops;  // the longest first
  double seconds = 0;       // of a mean step
  double samplesPerSecond() const { return static_cast<double>(batch) / seconds; }

  struct Stage {
    StageCost cost;
    std::size_t update = 0;
    double times = 1;       // a step
    double seconds = 0;     // once
    bool ofUpdate = false;  // of the weights, behind the passes
    bool ofRecord = false;  // before them
  };
  std::vector<Stage> stages;  // in order
};
// `secondsOf`: of one stage, once.
StepTimes predictStep(std::span<const UpdateCost> updates, std::int64_t batch, DataType precision,
                      const std::function<double(const StageCost&)>& secondsOf);

struct StepPrediction : StepTimes {
  GpuModel gpu;
  GpuEfficiency efficiency;
  bool tf32 = false;                       // some f32 factors are rounded
  double uploaded = 0, uploadSeconds = 0;  // inputs from the host, meanwhile: a step is as long as the longer
};
StepPrediction predictStep(std::span<const UpdateCost> updates, std::int64_t batch, DataType precision,
                           const GpuModel& gpu, const GpuEfficiency& efficiency);

struct ProcessorPrediction : StepTimes {
  ProcessorTimes processor;
};
ProcessorPrediction predictStep(std::span<const UpdateCost> updates, std::int64_t batch, DataType precision,
                                const ProcessorTimes& processor);

// What the nodes of a flat network take of a mean step, and what belongs to none: the weights' update, their packing.
struct NodeTimes {
  std::map<std::string, double> nodes;  // seconds
  double rest = 0;
};
// By update of `training`, from what toJson() below wrote of a step. Throws Error(badData) where it is something else.
std::vector<NodeTimes> nodeTimes(const Json& step);

// `memory`: of the same training, from the same device.
std::string toText(const ProcessorPrediction& step);
Json toJson(const ProcessorPrediction& step);
std::string toText(const StepPrediction& step, const CostPlan& memory);
Json toJson(const StepPrediction& step, const CostPlan& memory);

}  // namespace loom
