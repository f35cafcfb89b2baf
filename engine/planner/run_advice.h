#pragma once
// What a person should know before a run starts: how its batch, rate, warm-up, ranks and data go together. Rules alone,
// each with its source where it is applied; the numbers are those that a sentence about it names, the words are a
// page's. Pure; any thread.
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/network/project.h"

namespace loom {

// Steps of an epoch: the rest of the samples makes a step of its own unless it is left out, and an epoch has at least
// one. 0 where the samples are not known.
std::int64_t stepsPerEpoch(std::int64_t samples, std::int64_t batch, bool dropLast);

struct RunOutlook {
  std::int64_t samples = -1;                // of the training set; -1 = not known
  std::int64_t steps = 0, warmupSteps = 0;  // of the whole run; 0 = not known, none
  std::int64_t ranks = 1;                   // virtual ones included
  bool virtualRanks = false;
};

struct RunFinding {
  enum class Rule {
    batchBelowRanks,           // batch, ranks
    statisticsOfPasses,        // passes: batch statistics over all ranks, but passes compute one after another
    statisticsOfVirtualRanks,  // ranks
    wireNotExact,              // a deterministic run over a 16-bit wire
    reductionImpossible,       // reason, ranks: gradients cannot be added so
    batchAboveSamples,         // batch, samples
    restOfSamples,             // samples, steps (whole ones of an epoch), batch, rest, dropped
    fewSteps,                  // steps
    rateScaled,                // times (batch / base batch), factor (of the rate)
    rateNotScaled,             // times, baseBatch
    noWarmup,
    warmupShort,      // steps (of the warm-up)
    warmupLong,       // steps, percent (of the run)
    warmup,           // steps, percent
    noisyStatistics,  // shard: samples that a batch normalisation sees at a time
  };
  enum class Severity { error, warning, fine };
  struct Remedy {
    std::string setting;  // of the training, with its value; empty = none
    Json value;
    double warmupEpochs = 0;  // of the update; 0 = none
    bool any() const { return !setting.empty() || warmupEpochs > 0; }
  };
  Rule rule;
  Severity severity;
  Remedy remedy;
  std::int64_t batch = 0, baseBatch = 0, ranks = 0, samples = 0, steps = 0, passes = 0, rest = 0, shard = 0;
  int percent = 0;
  double times = 0, factor = 0;
  std::string reason;  // in words, where it is a row's own
  bool dropped = false;
};

// Of update `index` of the project's training. Throws Error(badProject) where its settings are no numbers.
std::vector<RunFinding> adviseOnRun(const Project& project, std::size_t index, const RunOutlook& outlook);

}  // namespace loom
