#pragma once
// One update of `training` at work: its network on a batch, shard by shard, then its rule on the parameters.
#include <memory>
#include <vector>

#include "engine/schedules/schedule.h"
#include "engine/training/compiled_networks.h"
#include "engine/training/feed.h"
#include "engine/training/means.h"
#include "engine/training/parameter_update.h"
#include "engine/training/position.h"
#include "engine/training/settings.h"

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
};

class UpdateRunner {
 public:
  // Compiles the full shard. Throws Error(badProject, badData).
  explicit UpdateRunner(const UpdateParts& parts);

  struct Outcome {
    Measured measured;
    double gradientNorm = 0;
    std::string diverged;  // what is not finite and where; empty = all is well
  };
  // On the feed's current batch. `step` counts from 0.
  Outcome run(std::int64_t step, double learningRate);
  bool due(std::int64_t step) const { return step % m_parts.spec.every == 0; }

  void setSpan(const ScheduleSpan& span);
  double learningRate(double scheduleStep) const;
  void setLearningRate(double value, double scheduleStep);

  Feed& feed() const { return m_parts.feed; }
  const UpdateSpec& spec() const { return m_parts.spec; }
  const Network& network() const { return m_parts.network; }
  const ParameterUpdate& update() const { return *m_update; }
  const Executable& executable() const { return m_parts.networks.get(m_request); }
  Position::UpdatePlace place() const { return {.count = m_update->count(), .rate = m_override}; }
  void setPlace(const Position::UpdatePlace& place);

 private:
  std::string diagnose(Executable& executable, const StepOptions& step, const std::string& symptom);
  UpdateParts m_parts;
  mutable CompileRequest m_request;
  std::unique_ptr<ParameterUpdate> m_update;
  std::vector<Feed::Binding> m_bindings;
  std::unique_ptr<Schedule> m_schedule;
  std::unique_ptr<Schedule> m_withoutWarmup;
  std::optional<RateOverride> m_override;
};

}  // namespace loom
