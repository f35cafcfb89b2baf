#include "engine/training/fresh_statistics.h"

#include <algorithm>

namespace loom {
namespace {

constexpr std::int64_t kSamples = 2048;  // enough for a mean and a variance to two digits and more

}  // namespace

FreshStatistics::FreshStatistics(CompiledNetworks& networks, ParameterStore& store, const Network& network,
                                 std::unique_ptr<Feed> feed)
    : m_networks(networks), m_store(store), m_network(network), m_feed(std::move(feed)) {
  const Program program = networks.program(request(m_feed->batch()));
  for (const Operation& operation : program.operations) {
    for (const int place : operation.op->updates) {
      const TensorId state = operation.inputs[static_cast<std::size_t>(place)];
      if (state == kNoTensor) continue;
      std::vector<std::string>& names = operation.op->batchStatistics ? m_states : m_others;
      if (const std::string& name = program.tensor(state).name;
          std::find(names.begin(), names.end(), name) == names.end())
        names.push_back(name);
    }
  }
  if (m_states.empty()) return;
  m_bindings = m_feed->bind(network, program);
  networks.get(request(m_feed->batch()));
}

void FreshStatistics::take() {
  if (m_states.empty()) return;
  std::vector<std::vector<float>> others;
  for (const std::string& name : m_others) others.push_back(m_store.at(name).value.values());
  std::vector<std::vector<double>> sums(m_states.size());
  m_feed->start(0, 0);
  std::int64_t samples = 0;
  for (bool last = false; !last && samples < kSamples;) {
    const Batch& batch = m_feed->next();
    last = batch.lastOfEpoch;
    if (last && samples > 0 && batch.size < m_feed->batch()) break;  // statistics of few samples
    Executable& executable = m_networks.get(request(batch.size));
    m_feed->fill(executable, m_bindings, 0, batch.size);
    executable.run({.firstSample = samples});
    samples += batch.size;
    for (std::size_t i = 0; i < m_states.size(); ++i) {
      const std::vector<float> values = m_store.at(m_states[i]).value.values();
      sums[i].resize(values.size());
      for (std::size_t k = 0; k < values.size(); ++k) sums[i][k] += static_cast<double>(batch.size) * values[k];
    }
  }
  for (std::size_t i = 0; i < m_states.size(); ++i) {
    std::vector<float> means(sums[i].size());
    for (std::size_t k = 0; k < means.size(); ++k)
      means[k] = static_cast<float>(sums[i][k] / static_cast<double>(samples));
    m_store.at(m_states[i]).value.write(means);
  }
  for (std::size_t i = 0; i < m_others.size(); ++i) m_store.at(m_others[i]).value.write(others[i]);
}

}  // namespace loom
