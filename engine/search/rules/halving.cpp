#include <algorithm>

#include "engine/search/stop_rule.h"

namespace loom {
namespace {

constexpr std::size_t kKeep = 3;  // one in three goes on behind a rung

// The best result of a trial when it first came to the rung; nothing before.
std::optional<double> atRung(const Trial& trial, double rung) {
  if (trial.state == TrialState::failed) return -std::numeric_limits<double>::infinity();
  for (const TrialResult& each : trial.curve)
    if (each.at >= rung - 1e-9) return trial.bestAt(each.at);
  return std::nullopt;
}

bool isBelowRung(const Trial& trial, std::span<const Trial> trials) {
  if (trial.curve.empty() || trial.ended() || trial.curve.back().at >= 1) return false;
  for (const double rung : {1.0 / 9, 1.0 / 3}) {
    const std::optional<double> own = atRung(trial, rung);
    if (!own) continue;
    std::size_t all = 1, better = 0;
    for (const Trial& each : trials) {
      if (each.number == trial.number) continue;
      const std::optional<double> other = atRung(each, rung);
      if (!other) continue;
      ++all;
      better += *other > *own;
    }
    if (all >= kKeep && better >= (all + kKeep - 1) / kKeep) return true;
  }
  return false;
}

}  // namespace

const StopRule& defineHalvingStopRule() {
  static const StopRule row{
      .id = "halving",
      .label = "Successive halving",
      .help =
          "At a ninth and at a third of its steps a trial goes on only when it is among the best third of those "
          "that came as far (Li et al. 2020). Saves more than the median, and sooner gives up what starts slowly.",
      .isWeak = &isBelowRung};
  return row;
}

}  // namespace loom
