#include "engine/training/step_exchange.h"

#include <algorithm>

#include "engine/base/error.h"

namespace loom {
namespace {

std::string labelOf(const std::vector<std::string>& names) {
  std::string label = "gradients of " + names.front();
  if (names.size() > 1) label += fmt::format(" to {} ({} tensors)", names.back(), names.size());
  return label;
}

std::size_t sizeOf(const std::vector<std::span<float>>& tensors) {
  std::size_t size = 0;
  for (const std::span<float>& tensor : tensors) size += tensor.size();
  return size;
}

void copyFrom(const std::vector<std::span<float>>& tensors, std::span<float> to) {
  for (const std::span<float>& tensor : tensors) {
    std::copy(tensor.begin(), tensor.end(), to.begin());
    to = to.subspan(tensor.size());
  }
}

void copyTo(const std::vector<std::span<float>>& tensors, std::span<const float> from) {
  for (const std::span<float>& tensor : tensors) {
    std::copy_n(from.begin(), tensor.size(), tensor.begin());
    from = from.subspan(tensor.size());
  }
}

}  // namespace

StepExchange::StepExchange(const Parallel& parallel, const TrainSettings& settings, ParameterStore& store,
                           const Options& options)
    : m_parallel(parallel), m_wire(settings.wire) {
  GradientExchange::Streams streams{parallel.streams(), false};
  streams.sums =
      streams.ranks && m_wire == Wire::f32 && !parallel.deterministic && options.smallestBatch >= parallel.logical;
  std::vector<GradientExchange::Bucket> exchanged;
  for (std::size_t b = 0; b < options.buckets.size() && !streams.sums; ++b) {
    const std::vector<std::string>& names = options.buckets[b];
    const bool isOfStates = options.hasStates && b + 1 == options.buckets.size();
    GradientExchange::Bucket bucket{.label = isOfStates ? "running statistics" : labelOf(names),
                                    .tensors = {},
                                    .wire = isOfStates ? Wire::f32 : m_wire};
    const std::size_t first = m_stored.size();
    for (const std::string& name : names) {
      StoredTensor& gradient = store.gradient(name);
      m_stored.push_back(&gradient);
      m_wires.push_back(bucket.wire);
      m_copies.emplace_back(gradient.isHost() ? 0 : static_cast<std::size_t>(gradient.elements()));
      m_tensors.push_back(gradient.isHost() ? gradient.host() : std::span(m_copies.back()));
      bucket.tensors.push_back(m_tensors.back());
    }
    if (std::any_of(m_stored.begin(), m_stored.end(), [](const StoredTensor* one) { return !one->isHost(); })) {
      const std::size_t count = names.size();
      bucket.fetch = [this, first, count] {
        for (std::size_t i = first; i < first + count; ++i) m_stored[i]->read(m_tensors[i]);
      };
      bucket.deliver = [this, first, count] {
        for (std::size_t i = first; i < first + count; ++i) m_stored[i]->write(m_tensors[i]);
      };
    }
    exchanged.push_back(std::move(bucket));
  }
  if (parallel.deterministic) {
    const auto owner = [&parallel](int shard) {
      int rank = 0;
      while (shard >= parallel.firstLogical(rank + 1)) ++rank;
      return rank;
    };
    m_sum.resize(sizeOf(m_tensors));
    m_tree = std::make_unique<TreeSum>(parallel.communicator, parallel.logical, owner, m_sum.size());
    exchanged.clear();
  }
  if (parallel.ranks() > 1)
    m_gradients = std::make_unique<GradientExchange>(parallel.communicator, std::move(exchanged), parallel.trace,
                                                     std::move(streams));
}

void StepExchange::fetch() {
  for (std::size_t i = 0; i < m_stored.size(); ++i)
    if (!m_copies[i].empty()) m_stored[i]->read(m_tensors[i]);
}

void StepExchange::deliver() {
  for (std::size_t i = 0; i < m_stored.size(); ++i)
    if (!m_copies[i].empty()) m_stored[i]->write(m_tensors[i]);
}

void StepExchange::run(const std::vector<Shard>& shards, std::int64_t batch, const Compute& compute) {
  m_batch = batch;
  const Compute told = [&](std::size_t k, StepOptions options) {
    options.everywhere = m_parallel.alike(batch);
    compute(k, options);
  };
  if (m_tree)
    runTree(told);
  else if (m_wire != Wire::f32 && m_parallel.logical > m_parallel.ranks())
    runRounded(shards, told);
  else
    runInStore(shards, told);
}

void StepExchange::runInStore(const std::vector<Shard>& shards, const Compute& compute) {
  for (std::size_t k = 0; k < shards.size(); ++k)
    compute(k, {.accumulate = k > 0, .exchange = m_gradients && k + 1 == shards.size()});
  if (!m_gradients) return;
  if (shards.empty()) {
    if (m_gradients->sumsOnStreams())
      throwError(ErrorCode::badProject,
                 "training: gradients are summed by the GPUs themselves, which needs a sample on each of the {} ranks, "
                 "but a step has {}: choose another batch, or start fewer ranks",
                 m_parallel.ranks(), m_batch);
    for (const std::span<float>& tensor : m_tensors) std::fill(tensor.begin(), tensor.end(), 0.0f);
    deliver();
  }
  m_gradients->postAll();  // everything where there was nothing to compute
  m_gradients->wait();
}

// Each virtual rank's gradient is rounded as the wire would, the sum is taken in f32 and rounded once more.
void StepExchange::runRounded(const std::vector<Shard>& shards, const Compute& compute) {
  m_sum.assign(sizeOf(m_tensors), 0.0f);
  for (std::size_t k = 0; k < shards.size(); ++k) {
    compute(k, {.accumulate = !shards[k].opens});
    if (!shards[k].closes) continue;
    fetch();
    std::size_t at = 0;
    for (std::size_t i = 0; i < m_tensors.size(); at += m_tensors[i++].size())
      addRounded(m_wires[i], m_tensors[i], std::span(m_sum).subspan(at, m_tensors[i].size()), m_words);
  }
  copyTo(m_tensors, m_sum);
  if (!m_gradients)
    for (std::size_t i = 0; i < m_tensors.size(); ++i) roundTo(m_wires[i], m_tensors[i], m_words);
  deliver();
  if (!m_gradients) return;
  m_gradients->postAll();
  m_gradients->wait();
}

void StepExchange::runTree(const Compute& compute) {
  std::size_t k = 0;
  const auto has = [this](int shard) {
    return m_parallel.firstRow(m_batch, shard + 1) > m_parallel.firstRow(m_batch, shard);
  };
  const auto leaf = [&](int, std::span<float> to) {
    compute(k++, {});
    fetch();
    copyFrom(m_tensors, to);
  };
  m_parallel.communicator.activity().subject.store("all gradients", std::memory_order_relaxed);
  m_tree->run(has, leaf, m_sum);
  copyTo(m_tensors, m_sum);
  deliver();
}

}  // namespace loom
