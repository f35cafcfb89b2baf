#pragma once
// Where a run stands between two steps: all that a resumed run needs beside the tensors to go on as if it had never
// stopped.
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/schedules/plateau.h"
#include "engine/training/means.h"

namespace loom {

// A learning rate that a person set while training: it holds from schedule step `at` on, and the schedule without its
// warm-up goes on from there: rate(t) = value · factor(t) / factor(at).
struct RateOverride {
  double value = 0;
  double at = 0;
  std::optional<double> base;  // the rule's rate in the settings then; a resume with another one ends the override
};

struct BestSoFar {
  std::string metric;  // "loss" or a metric's name
  double value = 0;
  double loss = std::numeric_limits<double>::quiet_NaN();  // of equal values the lower one wins; NaN = not known
  double epoch = 0;
  std::int64_t step = 0;
  Json toJson() const;
};

struct Position {
  std::int64_t step = 0;           // updates of the weights done
  double scheduleStep = 0;         // where the schedule stands: `step` in steps of the batch that the settings name
  std::int64_t stepsPerEpoch = 0;  // of such steps; 0 = not known (a checkpoint of an older version)
  std::int64_t settingsBatch = 0;  // that batch; 0 = not known
  std::int64_t samples = 0;        // of the first update's dataset, over all epochs
  double epoch = 0;                // epochs done, fractional
  bool validationDue = false;      // an epoch ended, but its validation was not finished
  double nextValidation = 0;       // epoch at which validation is due
  double nextKept = 0;             // epoch at which a checkpoint that is kept is due
  Means means;                     // of this epoch so far
  // The first update's newest figures, of one that does not run in every step: they are told until it does again.
  std::optional<Measured> first;
  std::optional<BestSoFar> best;
  struct DatasetPlace {
    std::int64_t epoch = 0, sample = 0;
    bool operator==(const DatasetPlace&) const = default;
  };
  std::map<std::string, DatasetPlace> datasets;
  struct UpdatePlace {
    std::int64_t count = 0;  // updates done
    std::optional<RateOverride> rate;
    double lossScale = 0;          // in f16; 0 = none
    std::int64_t finiteSteps = 0;  // since it changed last
    std::optional<PlateauState> plateau;
    Json methods = Json::object();        // by id, what they keep beside their slots
    double highestRate = 0, weights = 0;  // of a rule that averages its steps (ParameterUpdate::StepWeights)
  };
  std::vector<UpdatePlace> updates;
  std::int64_t batch = 0;       // a batch that was changed while training; 0 = that of the settings
  std::int64_t stageBatch = 0;  // what the settings' stages made it; 0 = none of them yet. Another one was set by hand

  // The schedule's place, and that of rates that were set, in steps of which an epoch has `stepsPerEpoch`: after a
  // resume with another batch the schedule goes on at the same share of an epoch.
  void countStepsPerEpoch(std::int64_t stepsPerEpoch);

  Json toJson() const;
  // Throws Error(badData) for what toJson() did not write.
  static Position fromJson(const Json& json);
};

}  // namespace loom
