#pragma once
// One update of `training` at work: its network on a batch, shard by shard, then its rule on the parameters. A step is
// begun, and its figures are read when they are wanted: on a machine of its own while the next step is under way.
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "engine/schedules/loss_scale.h"
#include "engine/schedules/schedule.h"
#include "engine/training/compiled_networks.h"
#include "engine/training/feed.h"
#include "engine/training/figures.h"
#include "engine/training/gather.h"
#include "engine/training/means.h"
#include "engine/training/parameter_update.h"
#include "engine/training/position.h"
#include "engine/training/settings.h"
#include "engine/training/sharded_slots.h"
#include "engine/training/step_exchange.h"

namespace loom {

struct UpdateParts {
  const UpdateSpec& spec;
  int index = 0;
  const Network& network;
  Feed& feed;  // shared by the updates that read the same dataset
  CompiledNetworks& networks;
  ParameterStore& store;
  Backend& backend;
  const TrainSettings& settings;
  const CompileOptions& compile;
  const Parallel& parallel;
  std::int64_t stepsPerEpoch = 1;  // with the batch of the settings
  // On rank 0, before the place of a divergence is looked for, which may take more memory than there is: what is worth
  // keeping is written now.
  std::function<void()> beforeDiagnosis;
};

class UpdateRunner {
 public:
  // Compiles the full shard. Throws Error(badProject, badData).
  explicit UpdateRunner(const UpdateParts& parts);

  struct Outcome {
    Measured measured;
    double gradientNorm = 0;
    double lossScale = 0;              // in f16: that of this step; 0 = none
    bool made = false;                 // the weights were changed
    std::optional<double> noiseScale;  // samples; where gradients are watched and enough is known
    std::optional<double> exchange;    // seconds that the step waited for other ranks' gradients
    bool skipped = false;  // its gradients overflowed: nothing was changed, the next step has half the scale
    std::optional<TrustRatios> ratios;  // of rules that measure
    std::string diverged;               // what is not finite and where; empty = all is well; the same on every rank
    Gathered said;                      // of several ranks; `parts` went into `measured`
  };
  // Begins a step on the feed's current batch. `step` counts from 0; `epoch`: epochs done before it.
  void begin(std::int64_t step, double learningRate, double epoch);
  // How the oldest step went that was begun; waits for it. All ranks call it alike.
  Outcome finish(const Signals& signals);
  // Behind a step whose update was made; `epoch`: done with it.
  void made(double epoch);
  // Whether a second step may be begun before the first is finished. Not in f16, whose next step needs to know of this
  // one's gradients by how much to scale its own, and how many updates there were; nor with methods, which work on the
  // weights between steps.
  bool late() const { return m_late; }
  bool due(std::int64_t step) const { return step % m_parts.spec.every == 0; }

  void setSpan(ScheduleSpan span);
  double learningRate(double scheduleStep) const;
  void setLearningRate(double value, double scheduleStep);
  // What a schedule that follows it makes of a result by which the run is judged; the same on every rank.
  void observe(double value, bool higherIsBetter);

  Feed& feed() const { return m_parts.feed; }
  const UpdateSpec& spec() const { return m_parts.spec; }
  const Network& network() const { return m_parts.network; }
  int index() const { return m_parts.index; }  // among the updates, from 0
  const ParameterUpdate& update() const { return *m_update; }
  double lossScale() const { return m_scale.value(); }  // of the next step
  // What stands in the place of each of its weights where something is evaluated; none: they do.
  std::optional<EvaluatedFrom> evaluated() const;
  const std::vector<MetricPlace>& metrics() const { return m_metrics; }
  bool mayEvaluateOthers() const;  // at some moment
  // Slots that begin as their weights.
  std::vector<std::string> copies() const;
  // What ranks share of the rule's slots and matrices; null: each has all.
  ShardedSlots* sharded() const { return m_sharded.get(); }
  // What it exchanges behind a step is done; by all ranks before they end.
  void settleExchange() {
    if (m_exchange) m_exchange->settle();
  }
  // Seconds that this rank has waited for the others so far: for their gradients and their measures.
  double waited() const { return m_gathered + (m_exchange ? m_exchange->waited().value_or(0) : 0); }
  // How its gradients are added over ranks (StepExchange::describe()); null where they are not, or on their devices.
  Json exchange() const { return m_exchange ? m_exchange->describe() : Json(); }
  const Executable& executable() const { return m_parts.networks.get(m_request); }
  Position::UpdatePlace place() const;
  void setPlace(const Position::UpdatePlace& place);

 private:
  // A step whose figures nobody has read yet.
  struct Begun {
    std::int64_t step = 0;
    ApplyOptions apply;
    StepOptions options;                          // of its last shard
    std::vector<Shard> shards;                    // this rank's
    std::size_t most = 0;                         // shards of the rank that has most
    std::int64_t epoch = 0, first = 0, size = 0;  // of its batch
    bool applies = true;                          // the rule runs on its gradients
    std::optional<GradientNorm> norm;             // of its shards, where that was measured
    std::optional<GradientNorm> whole;            // of the step, where the rule takes another gradient
    std::optional<double> exchange;               // seconds of waiting for it
  };
  Executable& fill(const Shard& shard);
  void compute(Begun& begun, std::size_t shard, StepOptions options);
  StepExchange::Measures measures(const Begun& begun) const;
  void computeAll(Begun& begun);
  void computeAgain(Begun& begun);
  void makeMethods();
  void makeUpdate(const Program& whole);
  bool sharesSlots() const;
  std::map<std::string, int> ownersOfGradients(const Program& whole) const;
  void gatherSquares(std::span<double> squares) const;
  // By all ranks together: the first symptom in their order, with the place where it can be told. `shard`: of the
  // batch that is to be looked into.
  std::string diagnose(const Begun& begun, const std::string& symptom, std::size_t shard);
  std::string placeOf(const Begun& begun, std::size_t shard);
  UpdateParts m_parts;
  mutable CompileRequest m_request;
  std::unique_ptr<ParameterUpdate> m_update;
  std::unique_ptr<ShardedSlots> m_sharded;
  std::vector<Feed::Binding> m_bindings;
  std::vector<std::vector<std::string>> m_buckets;
  std::vector<MetricPlace> m_metrics;
  std::vector<std::string> m_statistics;  // running ones that travel as gradients
  std::unique_ptr<StepExchange> m_exchange;
  std::deque<Begun> m_begun;
  double m_gathered = 0;  // seconds in which measures were gathered
  Figures m_figures;
  std::vector<std::unique_ptr<UpdateMethod>> m_methods;  // as the settings name them
  bool m_again = false;                                  // gradients are computed once more
  LossScale m_scale;
  NoiseOfSteps m_noise;
  bool m_late = false;
  std::unique_ptr<Schedule> m_schedule;
  std::unique_ptr<Schedule> m_withoutWarmup;
  std::optional<RateOverride> m_override;
  PlateauState m_plateau;
};

}  // namespace loom
