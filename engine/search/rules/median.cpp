#include <algorithm>

#include "engine/search/stop_rule.h"

namespace loom {
namespace {

constexpr std::size_t kLeast = 4;  // others that came as far, before anything is said of one

bool isBelowMedian(const Trial& trial, std::span<const Trial> trials) {
  if (trial.curve.empty() || trial.ended()) return false;
  const double at = trial.curve.back().at;
  const std::optional<double> own = trial.bestAt(at);
  if (!own || at >= 1) return false;
  std::vector<double> others;
  for (const Trial& each : trials)
    if (each.number != trial.number)
      if (const std::optional<double> best = each.bestAt(at)) others.push_back(*best);
  if (others.size() < kLeast) return false;
  // The lower of two middles: a value that was measured, never a mean with what failed.
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>((others.size() - 1) / 2);
  std::nth_element(others.begin(), middle, others.end());
  return *own < *middle;
}

}  // namespace

const StopRule& defineMedianStopRule() {
  static const StopRule row{
      .id = "median",
      .label = "Below the median",
      .help =
          "A trial ends when its best result so far is worse than the median of what the others had at the same "
          "share of their steps (Golovin et al. 2017). The first five go to their end. Results come with validations: "
          "four an epoch find weak trials sooner than one.",
      .isWeak = &isBelowMedian};
  return row;
}

}  // namespace loom
