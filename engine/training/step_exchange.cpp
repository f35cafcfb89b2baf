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

std::size_t sizeOf(const std::vector<StoredTensor*>& tensors) {
  std::int64_t size = 0;
  for (const StoredTensor* tensor : tensors) size += tensor->elements();
  return static_cast<std::size_t>(size);
}

void read(const std::vector<StoredTensor*>& tensors, std::span<float> to) {
  for (const StoredTensor* tensor : tensors) {
    const auto count = static_cast<std::size_t>(tensor->elements());
    tensor->read(to.first(count));
    to = to.subspan(count);
  }
}

void write(const std::vector<StoredTensor*>& tensors, std::span<const float> from) {
  for (StoredTensor* tensor : tensors) {
    const auto count = static_cast<std::size_t>(tensor->elements());
    tensor->write(from.first(count));
    from = from.subspan(count);
  }
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
  GradientExchange::Streams streams{nullptr, false};
  if (parallel.ranks() > 1 && parallel.connect) streams.ranks = parallel.connect(parallel.communicator);
  streams.sums =
      streams.ranks && m_wire == Wire::f32 && !parallel.deterministic && options.smallestBatch >= parallel.logical;
  std::vector<GradientExchange::Bucket> exchanged;
  for (const auto& names : options.buckets) {
    if (streams.sums) break;
    GradientExchange::Bucket bucket{.label = labelOf(names), .tensors = {}, .wire = m_wire};
    const std::size_t first = m_stored.size();
    for (const std::string& name : names) {
      StoredTensor& gradient = store.at(name).gradient;
      m_stored.push_back(&gradient);
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
  for (const std::string& name : options.states) m_states.push_back(&store.at(name).value);
  m_before.resize(sizeOf(m_states));
  m_after.resize(m_before.size());
  m_mean.resize(m_before.size());
  if (parallel.deterministic) {
    const auto owner = [&parallel](int shard) {
      int rank = 0;
      while (shard >= parallel.firstLogical(rank + 1)) ++rank;
      return rank;
    };
    m_sum.resize(sizeOf(m_tensors) + m_mean.size());
    m_tree = std::make_unique<TreeSum>(parallel.communicator, parallel.logical, owner, m_sum.size());
    exchanged.clear();
  } else if (!m_mean.empty()) {
    exchanged.push_back({.label = "running statistics", .tensors = {m_mean}, .wire = Wire::f32});
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

void StepExchange::run(const std::vector<Shard>& shards, std::int64_t batch, std::int64_t shardsOfAll,
                       const Compute& compute) {
  m_batch = batch;
  m_alike = m_parallel.alike(batch);
  m_averaging = !m_states.empty() && (shardsOfAll > 1 || m_parallel.ranks() > 1);
  if (m_averaging) {
    read(m_states, m_before);
    std::fill(m_mean.begin(), m_mean.end(), 0.0f);
  }
  if (m_tree)
    runTree(shards, compute);
  else if (m_wire != Wire::f32 && m_parallel.logical > m_parallel.ranks())
    runRounded(shards, compute);
  else
    runInStore(shards, compute);
  if (m_averaging) write(m_states, m_mean);
}

// Every shard begins at the statistics of before the step.
void StepExchange::computeShard(const std::vector<Shard>& shards, std::size_t k, const Compute& compute,
                                StepOptions options) {
  if (m_averaging && k > 0) write(m_states, m_before);
  options.everywhere = m_alike;
  compute(k, options);
  if (!m_averaging) return;
  const float share = static_cast<float>(static_cast<double>(shards[k].count) / static_cast<double>(m_batch));
  if (m_tree) return;  // leaves are weighted there
  read(m_states, m_after);
  for (std::size_t i = 0; i < m_mean.size(); ++i) m_mean[i] += share * m_after[i];
}

void StepExchange::runInStore(const std::vector<Shard>& shards, const Compute& compute) {
  for (std::size_t k = 0; k < shards.size(); ++k)
    computeShard(shards, k, compute, {.accumulate = k > 0, .exchange = m_gradients && k + 1 == shards.size()});
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
  m_gradients->postAll();  // the statistics, and everything where there was nothing to compute
  m_gradients->wait();
}

// Each virtual rank's gradient is rounded as the wire would, the sum is taken in f32 and rounded once more.
void StepExchange::runRounded(const std::vector<Shard>& shards, const Compute& compute) {
  m_sum.assign(sizeOf(m_tensors), 0.0f);
  for (std::size_t k = 0; k < shards.size(); ++k) {
    computeShard(shards, k, compute, {.accumulate = !shards[k].opens});
    if (!shards[k].closes) continue;
    fetch();
    std::size_t at = 0;
    for (const std::span<float>& tensor : m_tensors) {
      addRounded(m_wire, tensor, std::span(m_sum).subspan(at, tensor.size()), m_words);
      at += tensor.size();
    }
  }
  copyTo(m_tensors, m_sum);
  if (!m_gradients)
    for (const std::span<float>& tensor : m_tensors) roundTo(m_wire, tensor, m_words);
  deliver();
  if (!m_gradients) return;
  m_gradients->postAll();
  m_gradients->wait();
}

void StepExchange::runTree(const std::vector<Shard>& shards, const Compute& compute) {
  const std::size_t gradients = sizeOf(m_tensors);
  std::size_t k = 0;
  const auto has = [this](int shard) {
    return m_parallel.firstRow(m_batch, shard + 1) > m_parallel.firstRow(m_batch, shard);
  };
  const auto leaf = [&](int, std::span<float> to) {
    computeShard(shards, k, compute, {});
    fetch();
    copyFrom(m_tensors, to);
    if (m_averaging) {
      read(m_states, to.subspan(gradients));
      const float share = static_cast<float>(static_cast<double>(shards[k].count) / static_cast<double>(m_batch));
      for (float& value : to.subspan(gradients)) value *= share;
    } else {
      std::fill(to.begin() + static_cast<std::ptrdiff_t>(gradients), to.end(), 0.0f);
    }
    ++k;
  };
  m_parallel.communicator.activity().subject.store("all gradients", std::memory_order_relaxed);
  m_tree->run(has, leaf, m_sum);
  copyTo(m_tensors, m_sum);
  deliver();
  if (m_averaging) std::copy(m_sum.begin() + static_cast<std::ptrdiff_t>(gradients), m_sum.end(), m_mean.begin());
}

}  // namespace loom
