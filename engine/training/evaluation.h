#pragma once
// Loss and metrics of a network over a whole dataset, in evaluation mode: true means over all samples, whatever the
// last batch holds.
#include <atomic>
#include <optional>

#include "engine/training/compiled_networks.h"
#include "engine/training/feed.h"
#include "engine/training/figures.h"
#include "engine/training/gather.h"
#include "engine/training/means.h"
#include "engine/training/parallel.h"

namespace loom {

class Evaluation {
 public:
  // `feed` reads in order and without random preparation; the evaluation owns it. Compiles the full batch at once, so
  // that a network that cannot be evaluated is told before training begins. Throws Error(badProject) when it has no
  // loss and no metric. `parallel`: of several ranks each computes its part of every batch, and all know the means;
  // null = by itself.
  Evaluation(CompiledNetworks& networks, const Network& network, std::unique_ptr<Feed> feed,
             const Parallel* parallel = nullptr);

  // One pass. Nothing when `stop` became true on the way (several ranks: not looked at, for all must end alike). NaN
  // and infinity stay what they are.
  std::optional<Measured> run(const std::atomic<bool>* stop = nullptr);
  const Network& network() const { return m_network; }
  const Program& program() const { return m_networks.get(request(shardSize())).program(); }
  const Feed& feed() const { return *m_feed; }

 private:
  std::int64_t shardSize() const {
    return m_parallel ? (m_feed->batch() + m_parallel->logical - 1) / m_parallel->logical : m_feed->batch();
  }
  CompileRequest request(std::int64_t batch) const {
    return {.network = &m_network, .phase = Phase::evaluation, .batch = batch, .feed = m_feed.get()};
  }
  CompiledNetworks& m_networks;
  const Network& m_network;
  std::unique_ptr<Feed> m_feed;
  std::vector<Feed::Binding> m_bindings;
  const Parallel* m_parallel;
  std::vector<MetricPlace> m_metrics;
  Figures m_figures;
};

}  // namespace loom
