#include "engine/planner/rank_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/json.h"
#include "engine/planner/numbers_text.h"

namespace loom {
namespace {

// One update of the training, in seconds.
struct Computed {
  double pass = 0;                     // one forward and backward part
  std::map<std::string, double> ends;  // by layer: of its last stage in a pass
  double share = 1;                    // of the steps, those in which it is made
};

Computed computedOf(const StepTimes& one, std::size_t update, double scale) {
  Computed computed;
  for (const StepTimes::Stage& stage : one.stages) {
    if (stage.update != update || stage.ofRecord) continue;
    if (stage.ofUpdate) {
      computed.share = stage.times;
      continue;
    }
    computed.pass += stage.seconds * scale;
    if (!stage.cost.origin.empty()) computed.ends[stage.cost.origin] = computed.pass;
  }
  return computed;
}

// Where a layer has no stage of its own (it was fused into another's), the bucket's other layers say when it is ready.
double readyIn(const Computed& computed, const ExchangePlan::Bucket& bucket) {
  double ready = 0;
  for (const std::string& layer : bucket.layers)
    if (const auto found = computed.ends.find(layer); found != computed.ends.end())
      ready = std::max(ready, found->second);
  return ready > 0 ? ready : computed.pass;
}

// What a step in which this update is made waits for its exchange.
double waitedIn(const ExchangePlan& plan, const Computed& computed) {
  std::vector<double> ready, taken;
  double behind = 0;
  for (const ExchangePlan::Bucket& bucket : plan.buckets) {
    if (bucket.behindUpdate) {
      behind += bucket.seconds;
      continue;
    }
    ready.push_back(readyIn(computed, bucket));
    taken.push_back(bucket.seconds);
  }
  if (ready.empty()) return behind;
  // Passes before the last one of what is exchanged at once hide nothing: gradients are still being added.
  return behind + plan.times * std::max(0.0, lastArrival(ready, taken) - computed.pass);
}

}  // namespace

double lastArrival(std::span<const double> ready, std::span<const double> taken) {
  double end = 0;
  for (std::size_t b = 0; b < ready.size(); ++b) end = std::max(end, ready[b]) + taken[b];
  return end;
}

RankStep planRankStep(const StepTimes& one, const std::vector<ExchangePlan>& exchange, std::optional<double> measured) {
  const double scale = measured && one.seconds > 0 ? *measured / one.seconds : 1;
  RankStep step{.samples = one.batch, .measured = measured.has_value(), .computing = measured.value_or(one.seconds)};
  double delayed = 0;
  for (std::size_t i = 0; i < exchange.size(); ++i) {
    const ExchangePlan& plan = exchange[i];
    const Computed computed = computedOf(one, i, scale);
    const double seconds = plan.seconds.value_or(0);
    step.ranks = plan.ranks;
    step.exchange += computed.share * seconds;
    if (plan.delayed)
      delayed += computed.share * seconds;
    else
      step.waited += computed.share * waitedIn(plan, computed);
  }
  step.waited += std::max(0.0, delayed - step.computing);
  return step;
}

std::string toText(const RankStep& step) {
  const auto milliseconds = [](double seconds) { return fmt::format("{:.3g} ms", seconds * 1e3); };
  const double hidden = step.exchange - step.waited;
  return fmt::format(
      "a step of {} ranks with {} samples each: {}, of it computing {} ({}) and waiting {}; {} of the exchange pass "
      "while "
      "it computes; {} samples a second\n",
      step.ranks, groupedText(step.samples), milliseconds(step.seconds()), milliseconds(step.computing),
      step.measured ? "as given" : "predicted", milliseconds(step.waited), milliseconds(hidden > 1e-12 ? hidden : 0),
      groupedText(std::llround(step.samplesPerSecond())));
}

Json toJson(const RankStep& step) {
  return {{"ranks", step.ranks},         {"samples", step.samples},
          {"computing", step.computing}, {"computing_from", step.measured ? "given" : "predicted"},
          {"exchange", step.exchange},   {"waited", step.waited},
          {"seconds", step.seconds()},   {"samples_per_second", step.samplesPerSecond()}};
}

}  // namespace loom
