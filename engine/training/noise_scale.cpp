#include "engine/training/noise_scale.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/error.h"
#include "engine/network/flatten.h"
#include "engine/training/compiled_networks.h"
#include "engine/training/feed.h"
#include "engine/training/project_data.h"
#include "engine/training/settings.h"
#include "engine/training/start_from.h"
#include "engine/training/trained_run.h"
#include "engine/training/update_program.h"

namespace loom {
namespace {

constexpr std::int64_t kLeastShards = 32, kLookEvery = 8;
constexpr std::int64_t kMostOfAShard = 32;
// With so many times the noise scale of samples, the gradient's own length stands well above its noise.
constexpr double kCertain = 16;
// Below this share of what noise alone makes of |G|², the gradient cannot be told from 0.
constexpr double kTold = 0.25;

// Measures one update's gradients; the network's weights stand in the store.
class Measurement {
 public:
  Measurement(Backend& backend, const NoiseScaleOptions& options)
      : m_options(options),
        m_settings(readSettings(options.project.training.settings)),
        m_flat(options.project),
        m_store(m_settings.seed, backend.makeMemory()),
        m_networks(backend, m_store, {.threads = m_settings.threads}, m_settings.seed),
        m_data(options.project, {.folder = options.folder, .threads = m_settings.threads, .stop = options.stop}) {
    if (options.update >= options.project.training.updates.size())
      throwError(ErrorCode::badProject, "the project has no update {} whose gradient could be measured",
                 options.update + 1);
  }

  NoiseScale run() {
    const UpdateSpec& spec = m_options.project.training.updates[m_options.update];
    const Network* network = m_flat.find(spec.network);
    if (!network) throwError(ErrorCode::badProject, "the project has no network '{}'", spec.network);
    const OpenedDataset& opened = m_data.open(spec.dataset);
    const std::int64_t rows = opened.data->size(), shard = shardOf(rows);
    Feed feed(opened.data, FeedOptions{.name = spec.dataset,
                                       .prepare = opened.prepare,
                                       .batch = shard,
                                       .dropLast = true,
                                       .seed = m_settings.seed,
                                       .threads = std::max(1, m_settings.threads)});
    const CompileRequest request{.network = network,
                                 .batch = shard,
                                 .update = static_cast<int>(m_options.update),
                                 .wanted = [&spec](const Parameter& parameter) { return isChosen(spec, parameter); },
                                 .feed = &feed};
    Executable& executable = m_networks.get(request);
    const std::int64_t step = takeWeights();
    std::vector<const StoredTensor*> gradients;
    for (const Parameter& parameter : executable.program().parameters)
      if (isChosen(spec, parameter) && !m_store.at(parameter.name).gradient.empty())
        gradients.push_back(&m_store.at(parameter.name).gradient);
    if (gradients.empty()) throwError(ErrorCode::badProject, "network '{}' has no weights to be trained", spec.network);
    const auto bindings = feed.bind(*network, executable.program());
    feed.start(0, 0);
    const std::int64_t most = std::max(kLeastShards, m_options.samples / shard);
    NoiseEstimate estimate(shard);
    while (estimate.shards() < most && !isCertain(estimate)) {
      if (m_options.stop && m_options.stop->load(std::memory_order_relaxed))
        throwError(ErrorCode::stopped, "the measurement was stopped");
      feed.next();
      feed.fill(executable, bindings, 0, shard);
      executable.run({.step = estimate.shards(), .firstSample = 0});
      for (const StoredTensor* gradient : gradients) estimate.add(gradient->values());
      estimate.endShard();
      if (m_options.progress && estimate.shards() % kLookEvery == 0) m_options.progress(estimate);
    }
    return answer(estimate, step);
  }

 private:
  std::int64_t shardOf(std::int64_t rows) const {
    const std::int64_t wanted =
        m_options.shard > 0 ? m_options.shard : std::clamp<std::int64_t>(m_settings.batch / 8, 1, kMostOfAShard);
    if (m_options.shard > rows)
      throwError(ErrorCode::badArgument, "a shard of {} samples was asked for, but the dataset has {}", m_options.shard,
                 rows);
    return std::clamp<std::int64_t>(wanted, 1, std::max<std::int64_t>(1, rows / kLeastShards));
  }
  static bool isCertain(const NoiseEstimate& estimate) {
    return estimate.shards() >= kLeastShards && estimate.shards() % kLookEvery == 0 &&
           static_cast<double>(estimate.samples()) >= kCertain * estimate.noiseScale();
  }
  std::int64_t takeWeights() {
    if (!m_options.run.empty()) return TrainedRun(RunFolder{m_options.run}, Which::last).restore(m_store);
    if (!m_settings.startFrom.empty())
      startFrom(m_store,
                {.file = m_options.folder / m_settings.startFrom, .parameters = m_settings.startFromParameters});
    return 0;
  }
  NoiseScale answer(const NoiseEstimate& estimate, std::int64_t step) const {
    NoiseScale scale{.noise = estimate.noiseScale(),
                     .squaredGradient = estimate.squaredGradient(),
                     .trace = estimate.trace(),
                     .shard = estimate.samples() / estimate.shards(),
                     .samples = estimate.samples(),
                     .batch = m_settings.batch,
                     .step = step};
    const double told = static_cast<double>(estimate.samples()) / kTold;
    scale.atLeast = !(scale.noise < told);
    if (scale.atLeast) scale.noise = static_cast<double>(estimate.samples());
    return scale;
  }

  const NoiseScaleOptions& m_options;
  TrainSettings m_settings;
  FlatNetworks m_flat;
  ParameterStore m_store;
  CompiledNetworks m_networks;
  ProjectData m_data;
};

}  // namespace

void NoiseEstimate::add(std::span<const float> part) {
  if (m_sum.size() < m_at + part.size()) m_sum.resize(m_at + part.size());
  for (const float value : part) {
    m_squares += static_cast<double>(value) * value;
    m_sum[m_at++] += value;
  }
}

void NoiseEstimate::endShard() {
  m_at = 0;
  ++m_shards;
}

double NoiseEstimate::trace() const {
  if (m_shards < 2) return std::nan("");
  const auto shards = static_cast<double>(m_shards);
  double square = 0;  // of the mean
  for (const double value : m_sum) square += value / shards * (value / shards);
  // The shards' own variance, times their samples.
  return static_cast<double>(m_small) * (m_squares - shards * square) / (shards - 1);
}

double NoiseEstimate::squaredGradient() const {
  if (m_shards < 2) return std::nan("");
  const auto shards = static_cast<double>(m_shards);
  double square = 0;
  for (const double value : m_sum) square += value / shards * (value / shards);
  return square - trace() / static_cast<double>(samples());
}

double NoiseEstimate::noiseScale() const {
  const double squared = squaredGradient();
  return squared > 0 ? trace() / squared : std::numeric_limits<double>::infinity();
}

NoiseScale measureNoiseScale(Backend& backend, const NoiseScaleOptions& options) {
  return Measurement(backend, options).run();
}

}  // namespace loom
