#include "engine/training/gather.h"

#include <algorithm>

#include "engine/metrics/gathered.h"

namespace loom {
namespace {

constexpr std::size_t kHead = 9;  // numbers before the parts

// What is gathered whole is of another length on every rank: the lengths are told first. Ranks in their order.
std::vector<double> gatheredList(Communicator& communicator, const GatheredSums& rule, const std::string& name,
                                 const std::vector<Measured>& mine) {
  std::vector<double> own;
  for (const Measured& part : mine)
    for (const MetricSums& sums : part.sums)
      if (sums.name == name) rule.join(own, sums.values);
  const auto ranks = static_cast<std::size_t>(communicator.size());
  std::vector<double> lengths(ranks);
  const double length = static_cast<double>(own.size());
  communicator.allGather(std::as_bytes(std::span(&length, 1)), std::as_writable_bytes(std::span(lengths)));
  const auto most = static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
  own.resize(most);
  std::vector<double> all(most * ranks), joined;
  communicator.allGather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(rank * most);
    rule.join(joined, std::vector<double>(first, first + static_cast<std::ptrdiff_t>(lengths[rank])));
  }
  return joined;
}

}  // namespace

std::vector<MetricPlace> metricsOf(const Program& program) {
  std::vector<MetricPlace> metrics;
  std::size_t losses = 0;
  for (const NamedResult& result : program.results) losses += result.kind == ResultKind::loss;
  for (const NamedResult& result : program.results)
    if (result.kind == ResultKind::metric || (result.kind == ResultKind::loss && losses > 1))
      metrics.push_back({.name = result.name,
                         .rule = result.sums,
                         .sums = result.sums == nullptr || asGathered(result.sums)
                                     ? 0
                                     : static_cast<std::size_t>(program.tensor(result.tensor).shape.elements())});
  return metrics;
}

Gathered gatherMeasured(Communicator& communicator, const std::vector<MetricPlace>& metrics,
                        const std::vector<Measured>& mine, std::size_t most, const Signals& signals) {
  const std::size_t width = 2 + metrics.size(), behindParts = kHead + most * width;
  std::size_t words = behindParts;
  for (const MetricPlace& metric : metrics) words += metric.sums;
  std::vector<double> sent(words, 0.0), all(words * static_cast<std::size_t>(communicator.size()));
  sent[0] = signals.stop;
  sent[1] = signals.commands;
  sent[2] = static_cast<double>(mine.size());
  sent[3] = static_cast<double>(signals.weights >> 32);  // halves, which a double holds exactly
  sent[4] = static_cast<double>(signals.weights & 0xffffffffu);
  sent[5] = signals.write;
  sent[6] = signals.time.all;
  sent[7] = signals.time.waited;
  sent[8] = signals.time.data;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    double* at = sent.data() + kHead + i * width;
    at[0] = mine[i].samples;
    at[1] = mine[i].loss;
    for (std::size_t k = 0; k < metrics.size(); ++k) at[2 + k] = mine[i].metrics[k].second;
    double* sums = sent.data() + behindParts;
    for (const MetricPlace& metric : metrics) {
      for (const MetricSums& own : mine[i].sums)
        if (own.name == metric.name && !asGathered(metric.rule))
          for (std::size_t j = 0; j < own.values.size(); ++j) sums[j] += own.values[j];
      sums += metric.sums;
    }
  }
  communicator.activity().subject.store("losses and metrics", std::memory_order_relaxed);
  communicator.allGather(std::as_bytes(std::span(sent)), std::as_writable_bytes(std::span(all)));
  Gathered gathered;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(communicator.size()); ++rank) {
    const double* of = all.data() + rank * words;
    gathered.stop |= of[0] != 0;
    gathered.commands |= of[1] != 0;
    gathered.write |= of[5] != 0;
    gathered.times.push_back({.all = of[6], .waited = of[7], .data = of[8]});
    if (of[3] != all[3] || of[4] != all[4]) gathered.apart.push_back(static_cast<int>(rank));
    for (std::size_t i = 0; i < static_cast<std::size_t>(of[2]); ++i) {
      const double* at = of + kHead + i * width;
      Measured part{.loss = at[1], .metrics = {}, .samples = at[0]};
      for (std::size_t k = 0; k < metrics.size(); ++k) {
        part.metrics.emplace_back(metrics[k].name, at[2 + k]);
        if (metrics[k].rule) part.sums.push_back({metrics[k].name, metrics[k].rule, {}});
      }
      gathered.parts.push_back(std::move(part));
    }
  }
  const auto first =
      std::find_if(gathered.parts.begin(), gathered.parts.end(), [](const Measured& part) { return part.samples > 0; });
  if (first == gathered.parts.end()) return gathered;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(communicator.size()); ++rank) {
    const double* sums = all.data() + rank * words + behindParts;
    std::size_t k = 0;
    for (const MetricPlace& metric : metrics) {
      if (metric.rule) addSums(first->sums[k++].values, {sums, sums + metric.sums}, metric.rule);
      sums += metric.sums;
    }
  }
  std::size_t k = 0;
  for (const MetricPlace& metric : metrics) {
    if (const GatheredSums* const rule = asGathered(metric.rule))
      first->sums[k].values = gatheredList(communicator, *rule, metric.name, mine);
    k += metric.rule != nullptr;
  }
  return gathered;
}

std::string firstText(Communicator& communicator, const std::string& text) {
  if (communicator.size() == 1) return text;
  for (const std::string& one : allGatherTexts(communicator, text))
    if (!one.empty()) return one;
  return {};
}

}  // namespace loom
