#include "engine/training/gather.h"

#include <algorithm>

namespace loom {
namespace {

constexpr std::size_t kHead = 6;  // numbers before the parts

}  // namespace

std::vector<std::string> metricNames(const Program& program) {
  std::vector<std::string> names;
  std::size_t losses = 0;
  for (const NamedResult& result : program.results) losses += result.kind == ResultKind::loss;
  for (const NamedResult& result : program.results)
    if (result.kind == ResultKind::metric || (result.kind == ResultKind::loss && losses > 1)) names.push_back(result.name);
  return names;
}

Gathered gatherMeasured(Communicator& communicator, const std::vector<std::string>& names,
                        const std::vector<Measured>& mine, std::size_t most, const Signals& signals) {
  const std::size_t width = 2 + names.size(), words = kHead + most * width;
  std::vector<double> sent(words, 0.0), all(words * static_cast<std::size_t>(communicator.size()));
  sent[0] = signals.stop;
  sent[1] = signals.commands;
  sent[2] = static_cast<double>(mine.size());
  sent[3] = static_cast<double>(signals.weights >> 32);  // halves, which a double holds exactly
  sent[4] = static_cast<double>(signals.weights & 0xffffffffu);
  sent[5] = signals.write;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    double* at = sent.data() + kHead + i * width;
    at[0] = mine[i].samples;
    at[1] = mine[i].loss;
    for (std::size_t k = 0; k < names.size(); ++k) at[2 + k] = mine[i].metrics[k].second;
  }
  communicator.activity().subject.store("losses and metrics", std::memory_order_relaxed);
  communicator.allGather(std::as_bytes(std::span(sent)), std::as_writable_bytes(std::span(all)));
  Gathered gathered;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(communicator.size()); ++rank) {
    const double* of = all.data() + rank * words;
    gathered.stop |= of[0] != 0;
    gathered.commands |= of[1] != 0;
    gathered.write |= of[5] != 0;
    if (of[3] != all[3] || of[4] != all[4]) gathered.apart.push_back(static_cast<int>(rank));
    for (std::size_t i = 0; i < static_cast<std::size_t>(of[2]); ++i) {
      const double* at = of + kHead + i * width;
      Measured part{.loss = at[1], .metrics = {}, .samples = at[0]};
      for (std::size_t k = 0; k < names.size(); ++k) part.metrics.emplace_back(names[k], at[2 + k]);
      gathered.parts.push_back(std::move(part));
    }
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
