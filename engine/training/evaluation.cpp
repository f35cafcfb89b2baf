#include "engine/training/evaluation.h"

#include <algorithm>

#include "engine/base/error.h"

namespace loom {

Measured resultsOf(const Executable& executable, double samples) {
  Measured measured{.samples = samples};
  std::size_t losses = 0;
  for (const NamedResult& result : executable.program().results) losses += result.kind == "loss";
  for (const NamedResult& result : executable.program().results) {
    if (result.kind != "loss" && result.kind != "metric") continue;
    const double value = executable.scalarResult(result.name);
    if (result.kind == "loss") measured.loss += value;
    // A single loss is told once; several also by name.
    if (result.kind == "metric" || losses > 1) measured.metrics.emplace_back(result.name, value);
  }
  return measured;
}

Evaluation::Evaluation(CompiledNetworks& networks, const Network& network, std::unique_ptr<Feed> feed)
    : m_networks(networks), m_network(network), m_feed(std::move(feed)) {
  const std::int64_t batch = std::min(m_feed->batch(), m_feed->size());
  m_feed->setBatch(batch);
  const Program& program = networks.get(request(batch)).program();
  const bool measures = std::any_of(program.results.begin(), program.results.end(), [](const NamedResult& result) {
    return result.kind == "loss" || result.kind == "metric";
  });
  if (!measures)
    throwError(ErrorCode::badProject, "network '{}' has neither a loss nor a metric: there is nothing to evaluate",
               network.name);
  m_bindings = m_feed->bind(network, program);
}

std::optional<Measured> Evaluation::run(const std::atomic<bool>* stop) {
  if (!m_feed->started() || m_feed->nextSample() != 0) m_feed->start(0, 0);  // an interrupted pass begins anew
  Means means;
  for (;;) {
    if (stop && stop->load(std::memory_order_relaxed)) return {};
    const Batch& batch = m_feed->next();
    Executable& executable = m_networks.get(request(batch.size));
    m_feed->fill(executable, m_bindings, 0, batch.size);
    executable.run({});
    means.add(resultsOf(executable, static_cast<double>(batch.size)));
    if (batch.lastOfEpoch) return means.value();
  }
}

}  // namespace loom
