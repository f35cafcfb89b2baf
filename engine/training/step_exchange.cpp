#include "engine/training/step_exchange.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <utility>

#include "engine/base/error.h"
#include "engine/comm/reductions/host_reduction.h"
#include "engine/comm/reductions/links.h"

namespace loom {
namespace {

std::string labelOf(const std::vector<std::string>& names) {
  std::string label = "gradients of " + names.front();
  if (names.size() > 1) label += fmt::format(" to {} ({} tensors)", names.back(), names.size());
  return label;
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
    : m_parallel(parallel), m_wire(settings.wire), m_choice(settings.reduction) {
  // What devices sum by themselves is the library's.
  const bool librarys = m_choice.name == "automatic" || m_choice.name == "library";
  GradientExchange::Streams streams{parallel.streams(), false};
  streams.sums = options.delayedIn.empty() && streams.ranks && m_wire == Wire::f32 && librarys &&
                 !parallel.deterministic && options.smallestBatch >= parallel.logical && !settings.watchGradients;
  for (std::size_t b = 0; b < options.buckets.size() && !streams.sums; ++b) {
    const bool isOfStates = options.hasStates && b + 1 == options.buckets.size();
    addPart({.wire = isOfStates ? Wire::f32 : m_wire,
             .label = isOfStates ? "running statistics" : labelOf(options.buckets[b]),
             .ofStates = isOfStates},
            options.buckets[b], store, options.delayedIn);
    if (!isOfStates) m_gradientTensors = m_stored.size();
  }
  if (parallel.ranks() > 1) m_perHost = ranksPerHost(allGatherTexts(parallel.communicator, machineOfRank()));
  // What is added behind the last shard has nothing to overlap: one message does, beside statistics, which all need.
  if (rowOf(m_wire).exact && !m_parts.empty()) join(m_parts.size() - (m_parts.back().ofStates ? 1 : 0));
  if (!options.owners.empty() && options.delayedIn.empty() && !streams.sums) scatter(options.owners);
  if (rowOf(m_wire).exact && !m_scatters && !m_parts.empty()) join(m_parts.size());
  if (!options.delayedIn.empty() && parallel.ranks() > 1)
    m_own = parallel.communicator.split(0, parallel.communicator.rank());
  makeReductions();
  if (m_addsShards) addFromStore();
  if (parallel.ranks() == 1) return;
  std::vector<GradientExchange::Bucket> buckets;
  for (const Part& part : m_parts) buckets.push_back(bucketOf(part));
  m_gradients = std::make_unique<GradientExchange>(m_own ? *m_own : parallel.communicator, std::move(buckets),
                                                   parallel.trace, std::move(streams));
}

StepExchange::~StepExchange() = default;

// The first parts become one.
void StepExchange::join(std::size_t count) {
  if (count == 0) return;
  const Part& last = m_parts[count - 1];
  const Part all{.last = last.last, .floats = last.begin + last.floats, .label = "all gradients"};
  m_parts.erase(m_parts.begin() + 1, m_parts.begin() + static_cast<std::ptrdiff_t>(count));
  m_parts.front() = all;
}

// Each rank is left with what it needs, if all that passes the busiest of them is less then.
void StepExchange::scatter(const std::map<std::string, int>& owners) {
  const ReductionDefinition& row = rowOf(m_wire);
  std::vector<OwnedParts> owned;
  std::int64_t scattered = 0, whole = 0;
  for (const Part& part : m_parts) {
    std::vector<OwnedParts::Part> own;
    std::size_t begin = 0;
    for (std::size_t i = part.first; i < part.last; ++i) {
      const auto owner = owners.find(m_names[i]);
      if (!part.ofStates && owner == owners.end()) return;
      if (!part.ofStates) own.push_back({begin, m_tensors[i].size(), owner->second});
      begin += m_tensors[i].size();
    }
    owned.emplace_back(std::move(own), m_parallel.ranks());
    if (part.ofStates) continue;
    const ReductionShape shape = shapeOf(part.wire, part.floats);
    const auto bytes = scatteredBytes(row, shape, owned.back());
    if (!bytes) return;
    scattered += *bytes;
    whole += loom::costOf(row, shape).bytes;
  }
  m_scatters = scattered < whole;
  for (std::size_t i = 0; m_scatters && i < m_parts.size(); ++i)
    if (!m_parts[i].ofStates) m_parts[i].owned = std::move(owned[i]);
}

ReductionCost StepExchange::costOf(const Part& part, const ReductionDefinition& row) const {
  const ReductionShape shape = shapeOf(part.wire, part.floats);
  if (!part.owned) return loom::costOf(row, shape);
  const std::int64_t bytes = *scatteredBytes(row, shape, *part.owned);
  return {.steps = m_parallel.ranks() - 1, .bytes = bytes, .total = bytes * m_parallel.ranks()};
}

const ReductionDefinition& StepExchange::rowOf(Wire wire) const {
  return reductionOf(m_choice, wire, m_parallel.deterministic);
}

ReductionShape StepExchange::shapeOf(Wire wire, std::size_t floats) const {
  return {.ranks = m_parallel.ranks(),
          .floats = floats,
          .wire = wire,
          .shards = m_parallel.logical,
          .perHost = m_perHost,
          .values = m_choice.values};
}

void StepExchange::addPart(Part part, const std::vector<std::string>& names, ParameterStore& store,
                           const std::string& delayedIn) {
  part.first = m_stored.size();
  part.begin = m_parts.empty() ? 0 : m_parts.back().begin + m_parts.back().floats;
  for (const std::string& name : names) {
    StoredTensor& computed = store.gradient(name);
    StoredTensor& gradient = delayedIn.empty() ? computed : store.slot(name, delayedIn);
    if (!delayedIn.empty()) m_turns.emplace_back(&computed, &gradient);
    m_names.push_back(name);
    m_stored.push_back(&gradient);
    m_copies.emplace_back(gradient.isHost() ? 0 : static_cast<std::size_t>(gradient.elements()));
    m_tensors.push_back(gradient.isHost() ? gradient.host() : std::span(m_copies.back()));
    part.floats += m_tensors.back().size();
  }
  part.last = m_stored.size();
  m_parts.push_back(std::move(part));
}

// One for each wire, as large as its largest part; where shards are added one by one, one for each part, since such a
// reduction has one sum at a time. What a 16-bit exchange leaves in 32 bits (running statistics) goes the way that is
// automatic there.
void StepExchange::makeReductions() {
  std::map<Wire, std::size_t> most;
  for (const Part& part : m_parts) most[part.wire] = std::max(most[part.wire], part.floats);
  std::map<Wire, std::shared_ptr<Reduction>> made;
  for (Part& part : m_parts) {
    std::shared_ptr<Reduction>& last = made[part.wire];
    if (!last || last->addsShards() || part.owned || m_scatters)
      last = rowOf(part.wire).make(m_own ? *m_own : m_parallel.communicator, shapeOf(part.wire, most[part.wire]));
    part.reduction = last;
    m_addsShards |= last->addsShards();
    if (part.owned) dynamic_cast<Scattering&>(*last).scatter(*part.owned);
  }
}

Json StepExchange::describe() const {
  if (!m_gradients || m_parts.empty()) return nullptr;
  Json buckets = Json::array();
  std::int64_t steps = 0, bytes = 0;
  for (std::size_t i = 0; i < m_parts.size(); ++i) {
    const Part& part = m_parts[i];
    const auto chosen = part.reduction->chosenFor(part.floats);
    const ReductionDefinition& row = chosen ? *findReduction(chosen->name) : rowOf(part.wire);
    const ReductionCost cost = costOf(part, row);
    steps += cost.steps, bytes += cost.bytes;
    Json bucket = {{"label", part.label}, {"numbers", part.floats}, {"reduction", row.entry.id},
                   {"steps", cost.steps}, {"bytes", cost.bytes},    {"total_bytes", cost.total}};
    if (part.owned) bucket["scattered"] = true;  // each rank has its own alone
    if (chosen) bucket["predicted_ms"] = chosen->seconds * 1e3;
    if (const double least = m_gradients->leastSeconds(i); least > 0) bucket["least_ms"] = least * 1e3;
    buckets.push_back(std::move(bucket));
  }
  return {{"reduction", rowOf(m_wire).entry.id},
          {"wire", toString(m_wire)},
          {"steps", steps},
          {"bytes", bytes},
          {"buckets", std::move(buckets)}};
}

GradientExchange::Bucket StepExchange::bucketOf(const Part& part) {
  GradientExchange::Bucket bucket{.label = part.label, .tensors = {}, .wire = part.wire};
  bucket.reduction = part.reduction;
  bucket.tensors.assign(m_tensors.begin() + static_cast<std::ptrdiff_t>(part.first),
                        m_tensors.begin() + static_cast<std::ptrdiff_t>(part.last));
  const auto isFar = [](const std::vector<float>& copy) { return !copy.empty(); };
  const auto copies = m_copies.begin();
  if (std::any_of(copies + static_cast<std::ptrdiff_t>(part.first), copies + static_cast<std::ptrdiff_t>(part.last),
                  isFar)) {
    bucket.fetch = [this, first = part.first, last = part.last] { fetch(first, last); };
    bucket.deliver = [this, first = part.first, last = part.last] { deliver(first, last); };
  }
  return bucket;
}

void StepExchange::fetch(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i)
    if (!m_copies[i].empty()) m_stored[i]->read(m_tensors[i]);
}

void StepExchange::deliver(std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i)
    if (!m_copies[i].empty()) m_stored[i]->write(m_tensors[i]);
}

void StepExchange::run(const std::vector<Shard>& shards, std::int64_t batch, const Compute& compute,
                       Measures measures) {
  m_batch = batch;
  m_norm.reset();
  m_whole.reset();
  m_measures = measures != Measures::nothing && m_gradientTensors > 0;
  const Compute told = [&](std::size_t k, StepOptions options) {
    options.everywhere = m_parallel.alike(batch);
    compute(k, options);
  };
  if (!m_turns.empty() && !m_addsShards) return runDelayed(shards, told);
  m_addsShards ? runShards(shards, told) : runInStore(shards, told);
  takeTurns();
  if (m_measures) shareNorm();
  if (m_norm && measures == Measures::bothNorms)
    m_whole = GradientNorm{squaresOfGradients(), static_cast<double>(m_batch)};
}

// Of what was computed: where gradients are delayed, what stands in the exchange's tensors is older.
double StepExchange::squaresOfGradients() {
  double squares = 0;
  if (!m_turns.empty() && !m_addsShards) {
    for (std::size_t i = 0; i < m_gradientTensors; ++i) squares += squaresOf(m_turns[i].first->values());
    return squares;
  }
  fetch(0, m_gradientTensors);
  for (std::size_t i = 0; i < m_gradientTensors; ++i) squares += squaresOf(m_tensors[i]);
  return squares;
}

void StepExchange::measure(const Shard& shard) {
  const double squares = squaresOfGradients();
  // A shard's gradient is weighted by its share of the step.
  const double share = static_cast<double>(shard.count) / static_cast<double>(m_batch);
  m_norm = GradientNorm{squares / (share * share), static_cast<double>(shard.count)};
}

void StepExchange::shareNorm() {
  if (m_parallel.ranks() == 1) return;
  const std::array<double, 2> mine = m_norm ? std::array{m_norm->squares, m_norm->samples} : std::array<double, 2>{};
  std::vector<double> all(2 * static_cast<std::size_t>(m_parallel.ranks()));
  m_parallel.communicator.allGather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  GradientNorm mean;
  double ranks = 0;
  for (std::size_t i = 0; i < all.size(); i += 2)
    if (all[i + 1] > 0) mean.squares += all[i], mean.samples += all[i + 1], ++ranks;
  m_norm.reset();
  if (ranks > 0) m_norm = GradientNorm{mean.squares / ranks, mean.samples / ranks};
}

void StepExchange::wait() {
  const auto begin = std::chrono::steady_clock::now();
  m_gradients->wait();
  m_waited += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::optional<double> StepExchange::waited() const {
  return m_gradients && !m_parts.empty() ? std::optional(m_waited) : std::nullopt;
}

// What goes to its sum shard by shard is taken where it is computed, and waits when the sum is known.
void StepExchange::addFromStore() {
  for (std::size_t i = 0; i < m_turns.size(); ++i) {
    m_stored[i] = m_turns[i].first;
    m_tensors[i] = m_stored[i]->isHost() ? m_stored[i]->host() : std::span(m_copies[i]);
  }
}

// The store's gradients change places with those that waited.
void StepExchange::takeTurns() {
  std::vector<float> kept;
  for (const auto& [computed, waiting] : m_turns) {
    kept = computed->values();
    computed->copyFrom(*waiting);
    waiting->write(kept);
  }
}

void StepExchange::runDelayed(const std::vector<Shard>& shards, const Compute& compute) {
  for (std::size_t k = 0; k < shards.size(); ++k) {
    compute(k, {.accumulate = k > 0});
    if (m_measures && k == 0) measure(shards.front());
  }
  if (m_measures) shareNorm();
  if (shards.empty())
    for (const auto& [computed, waiting] : m_turns)
      computed->write(std::vector<float>(static_cast<std::size_t>(computed->elements())));
  settle();
  takeTurns();
  if (!m_gradients) return;
  m_gradients->postAll();
  m_underWay = true;
}

void StepExchange::settle() {
  if (std::exchange(m_underWay, false)) wait();
}

void StepExchange::runInStore(const std::vector<Shard>& shards, const Compute& compute) {
  // A rank's only shard leaves when it was measured.
  const bool leaves = m_gradients && !(m_measures && shards.size() == 1);
  for (std::size_t k = 0; k < shards.size(); ++k) {
    compute(k, {.accumulate = k > 0, .exchange = leaves && k + 1 == shards.size()});
    if (m_measures && k == 0) measure(shards.front());
  }
  if (!m_gradients) return;
  if (shards.empty()) {
    if (m_gradients->sumsOnStreams())
      throwError(ErrorCode::badProject,
                 "training: gradients are summed by the GPUs themselves, which needs a sample on each of the {} ranks, "
                 "but a step has {}: choose another batch, or start fewer ranks",
                 m_parallel.ranks(), m_batch);
    for (const std::span<float>& tensor : m_tensors) std::fill(tensor.begin(), tensor.end(), 0.0f);
    deliver(0, m_tensors.size());
  }
  m_gradients->postAll();  // everything where there was nothing to compute
  wait();
}

// Each logical rank's gradients go to the reduction by themselves.
void StepExchange::runShards(const std::vector<Shard>& shards, const Compute& compute) {
  m_sum.assign(m_parts.back().begin + m_parts.back().floats, 0.0f);
  for (std::size_t k = 0; k < shards.size(); ++k) {
    compute(k, {.accumulate = !shards[k].opens});
    if (m_measures && k == 0) measure(shards.front());
    if (!shards[k].closes) continue;
    fetch(0, m_tensors.size());
    for (const Part& part : m_parts)
      part.reduction->add(shards[k].logical, std::span(m_tensors).subspan(part.first, part.last - part.first),
                          std::span(m_sum).subspan(part.begin, part.floats));
  }
  if (!m_gradients)
    for (const Part& part : m_parts) part.reduction->finish(std::span(m_sum).subspan(part.begin, part.floats));
  copyTo(m_tensors, m_sum);
  deliver(0, m_tensors.size());
  if (!m_gradients) return;
  m_gradients->postAll();
  wait();
}

}  // namespace loom
