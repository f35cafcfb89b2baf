#pragma once
// The settings of `training` as numbers, read through the catalogue's entry, which alone knows the defaults.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/data_type.h"
#include "engine/base/json.h"
#include "engine/comm/reductions/reduction.h"
#include "engine/network/batch_stages.h"
#include "engine/passes/passes.h"
#include "engine/training/methods/method.h"

namespace loom {

struct TrainSettings {
  double epochs = 0;
  std::optional<std::int64_t> maxSteps;
  std::int64_t batch = 0;               // samples of a step over all accumulation passes
  std::vector<BatchStage> batchStages;  // in the order of epochs; before the first it is `batch`
  std::int64_t accumulate = 0;          // passes of a step
  double averageDecay = 0;              // of the average of the weights; 0: none is kept
  DataType precision = DataType::f32;
  bool tf32 = false;             // f32 factors may be rounded, on machines that have it
  std::size_t memoryBudget = 0;  // bytes; 0 = none
  std::uint64_t seed = 0;
  std::optional<double> clipNorm;
  bool shuffle = true;
  std::string oversample;     // a variable of classes; empty: every row once
  bool weighClasses = false;  // losses of classes count them alike
  bool dropLast = false;
  double validateEvery = 0;               // epochs; 0 = never
  std::string monitor;                    // what "best" means: "loss" or a metric's node
  std::optional<double> checkpointEvery;  // epochs; such checkpoints are kept for good
  int threads = 0;
  std::int64_t virtualRanks = 0;  // 0 = as many as there are ranks
  bool deterministic = false;
  Wire wire = Wire::f32;
  ReductionChoice reduction;
  std::size_t fusionBytes = 0;  // 0 = every gradient by itself
  BatchStatistics statistics = BatchStatistics::perShard;
  std::string startFrom;  // file of weights or folder of a run, as the project names it; empty = random numbers
  std::vector<std::string> startFromParameters;  // patterns; empty = all
  std::vector<MethodChoice> methods;             // what happens around the rule
  bool shardOptimizer = false;                   // ranks share the rule's slots
  std::int64_t recordLayers = 0;                 // steps from one record of the layers to the next; 0 = none
  MethodCost method;                             // of them
  bool watchGradients = false;                   // noise scale and magnitudes are measured
  double rateScale = 1;                          // of the learning rate: the batch's over the base batch's

  std::int64_t batchAt(double epoch) const;  // of the step that begins there
  std::int64_t largestBatch() const;
  std::int64_t shard() const { return (batch + accumulate - 1) / accumulate; }  // samples computed at once
};

// Throws Error(badProject) for the first value that cannot be.
TrainSettings readSettings(const Json& settings);
// Every field with its value, given or default: as run.json and the table of runs hold it.
Json resolvedSettings(const Json& settings);

}  // namespace loom
