#pragma once
// A step of ranks that compute and exchange at the same time: what each computes, what they exchange, and how much of
// that somebody waits for. Pure; any thread.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/json_fwd.h"
#include "engine/planner/exchange_plan.h"
#include "engine/planner/step_time.h"

namespace loom {

struct RankStep {
  int ranks = 1;
  std::int64_t samples = 0;  // of a rank
  bool measured = false;     // `computing` was given, not predicted
  double computing = 0;      // seconds of forward, backward and the weights' update, where nobody waits
  double exchange = 0;       // of all buckets, one behind the other
  double waited = 0;         // of these, what computing does not hide
  double seconds() const { return computing + waited; }
  double samplesPerSecond() const { return static_cast<double>(samples * ranks) / seconds(); }
};

// When the last bucket has arrived: they go one at a time and in their order, none before it is ready.
double lastArrival(std::span<const double> ready, std::span<const double> taken);

// `one`: a step of one rank with its samples, stage by stage: a bucket leaves when the last stage of its layers is
// through. `exchange`: with links. `measured`: seconds of that step, in place of those that its stages add up to.
RankStep planRankStep(const StepTimes& one, const std::vector<ExchangePlan>& exchange,
                      std::optional<double> measured = std::nullopt);

std::string toText(const RankStep& step);
Json toJson(const RankStep& step);

}  // namespace loom
