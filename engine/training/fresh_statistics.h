#pragma once
// Running statistics of batch normalisation, taken anew: for weights that no step has seen (averages of weights), those
// that steps left do not fit. A mean over the first samples of the training set in its first order, forwards alone, so
// that every rank comes to the same numbers by itself.
#include <memory>
#include <string>
#include <vector>

#include "engine/training/compiled_networks.h"
#include "engine/training/feed.h"

namespace loom {

class FreshStatistics {
 public:
  // Compiles at once, so that what does not fit is known before the first step. `network` and the others must outlive
  // it. Throws what CompiledNetworks throws.
  FreshStatistics(CompiledNetworks& networks, ParameterStore& store, const Network& network,
                  std::unique_ptr<Feed> feed);

  // Names of the states that it takes; none: the network has no such layer.
  const std::vector<std::string>& states() const { return m_states; }
  // For the weights as they stand in the store; everything else in it stays as it is. No step under way.
  void take();

 private:
  CompileRequest request(std::int64_t batch) const {
    return {.network = &m_network, .phase = Phase::statistics, .batch = batch, .feed = m_feed.get()};
  }
  CompiledNetworks& m_networks;
  ParameterStore& m_store;
  const Network& m_network;
  std::unique_ptr<Feed> m_feed;
  std::vector<Feed::Binding> m_bindings;
  std::vector<std::string> m_states, m_others;  // that a pass forwards changes
};

}  // namespace loom
