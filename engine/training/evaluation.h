#pragma once
// Loss and metrics of a network over a whole dataset, in evaluation mode: true means over all samples, whatever the last batch holds.
#include <atomic>
#include <optional>

#include "engine/training/compiled_networks.h"
#include "engine/training/feed.h"
#include "engine/training/means.h"

namespace loom {

class Evaluation {
 public:
  // `feed` reads in order and without random preparation; the evaluation owns it. Compiles the full batch at once, so that a
  // network that cannot be evaluated is told before training begins. Throws Error(badProject) when it has no loss and no metric.
  Evaluation(CompiledNetworks& networks, const Network& network, std::unique_ptr<Feed> feed);

  // One pass. Nothing when `stop` became true on the way. NaN and infinity stay what they are.
  std::optional<Measured> run(const std::atomic<bool>* stop = nullptr);
  const Network& network() const { return m_network; }
  const Program& program() const { return m_networks.get(request(m_feed->batch())).program(); }
  const Feed& feed() const { return *m_feed; }

 private:
  CompileRequest request(std::int64_t batch) const { return {.network = &m_network, .phase = Phase::evaluation, .batch = batch}; }
  CompiledNetworks& m_networks;
  const Network& m_network;
  std::unique_ptr<Feed> m_feed;
  std::vector<Feed::Binding> m_bindings;
};

// Losses and metrics of the last run(), which was over `samples`.
Measured resultsOf(const Executable& executable, double samples);

}  // namespace loom
