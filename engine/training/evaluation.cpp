#include "engine/training/evaluation.h"

#include <algorithm>

#include "engine/base/error.h"

namespace loom {

Evaluation::Evaluation(CompiledNetworks& networks, const Network& network, std::unique_ptr<Feed> feed,
                       const Parallel* parallel)
    : m_networks(networks), m_network(network), m_feed(std::move(feed)), m_parallel(parallel) {
  m_feed->setBatch(std::min(m_feed->batch(), m_feed->size()));
  const Program& program = this->program();
  const bool measures = std::any_of(program.results.begin(), program.results.end(), [](const NamedResult& result) {
    return result.kind == ResultKind::loss || result.kind == ResultKind::metric;
  });
  if (!measures)
    throwError(ErrorCode::badProject, "network '{}' has neither a loss nor a metric: there is nothing to evaluate",
               network.name);
  m_bindings = m_feed->bind(network, program);
  m_metrics = metricsOf(program);
}

std::optional<Measured> Evaluation::run(const std::atomic<bool>* stop) {
  if (!m_feed->started() || m_feed->nextSample() != 0) m_feed->start(0, 0);  // an interrupted pass begins anew
  const int ranks = m_parallel ? m_parallel->ranks() : 1, logical = m_parallel ? m_parallel->logical : 1;
  const int rank = ranks > 1 ? m_parallel->communicator.rank() : 0;
  m_figures.clear();
  std::vector<std::int64_t> counts;  // samples of this rank's parts, batch by batch
  std::int64_t batches = 0;
  for (bool last = false; !last; ++batches) {
    if (ranks == 1 && stop && stop->load(std::memory_order_relaxed)) return {};
    const Batch& batch = m_feed->next();
    last = batch.lastOfEpoch;
    const int from = m_parallel ? m_parallel->firstLogical(rank) : 0,
              to = m_parallel ? m_parallel->firstLogical(rank + 1) : 1;
    for (int l = from; l < to; ++l) {
      const std::int64_t first = batch.size * l / logical, count = batch.size * (l + 1) / logical - first;
      counts.push_back(count);
      if (count == 0) continue;
      Executable& executable = m_networks.get(request(count));
      m_feed->fill(executable, m_bindings, first, count);
      m_figures.run(executable, {}, static_cast<double>(count));
    }
    if (m_parallel) m_parallel->communicator.activity().progress.fetch_add(1, std::memory_order_relaxed);
  }
  std::vector<Measured> parts;
  for (const std::int64_t count : counts) {
    if (count > 0) {
      parts.push_back(m_figures.take());
      continue;
    }
    parts.push_back({.metrics = {}, .samples = 0});
    for (const MetricPlace& metric : m_metrics) parts.back().metrics.emplace_back(metric.name, 0.0);
  }
  Means means;
  if (ranks == 1) {
    for (const Measured& part : parts)
      if (part.samples > 0) means.add(part);
    return means.value();
  }
  // Added batch by batch and in the order of logical ranks, as one rank would.
  const auto each = [&](int r) {
    return static_cast<std::int64_t>(m_parallel->firstLogical(r + 1) - m_parallel->firstLogical(r));
  };
  std::int64_t most = 0;
  for (int r = 0; r < ranks; ++r) most = std::max(most, each(r));
  const Gathered gathered =
      gatherMeasured(m_parallel->communicator, m_metrics, parts, static_cast<std::size_t>(most * batches), {});
  for (std::int64_t b = 0; b < batches; ++b) {
    std::int64_t before = 0;
    for (int r = 0; r < ranks; ++r) {
      for (std::int64_t i = 0; i < each(r); ++i) {
        const Measured& part = gathered.parts[static_cast<std::size_t>(before + b * each(r) + i)];
        if (part.samples > 0) means.add(part);
      }
      before += batches * each(r);
    }
  }
  return means.value();
}

}  // namespace loom
