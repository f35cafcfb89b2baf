#include "engine/search/trial.h"

#include <algorithm>

namespace loom {

const char* toKey(TrialState state) {
  switch (state) {
    case TrialState::running:
      return "running";
    case TrialState::interrupted:
      return "interrupted";
    case TrialState::done:
      return "done";
    case TrialState::weak:
      return "weak";
    case TrialState::failed:
      return "failed";
  }
  return "";
}

double Trial::score() const {
  if (state == TrialState::failed || curve.empty() || !std::isfinite(curve.back().value)) return std::nan("");
  double best = -std::numeric_limits<double>::infinity();
  for (const TrialResult& each : curve)
    if (std::isfinite(each.value)) best = std::max(best, each.value);
  return best;
}

std::optional<double> Trial::bestAt(double at) const {
  constexpr double kRounding = 1e-9;
  if (state == TrialState::failed) return -std::numeric_limits<double>::infinity();
  if (curve.empty() || curve.back().at < at - kRounding) return std::nullopt;
  double best = -std::numeric_limits<double>::infinity();
  for (const TrialResult& each : curve) {
    if (each.at > at + kRounding) break;
    if (!std::isfinite(each.value)) return -std::numeric_limits<double>::infinity();
    best = std::max(best, each.value);
  }
  return curve.front().at > at + kRounding ? std::nullopt : std::optional(best);
}

bool isBetter(const Trial& a, const Trial& b) {
  const double left = a.score(), right = b.score();
  if (std::isnan(left) != std::isnan(right)) return std::isnan(right);
  if (std::isnan(left) || left == right) return a.number < b.number;
  return left > right;
}

const Trial* bestOf(std::span<const Trial> trials) {
  const Trial* best = nullptr;
  for (const Trial& each : trials)
    if (!std::isnan(each.score()) && (!best || isBetter(each, *best))) best = &each;
  return best;
}

int nextNumber(std::span<const Trial> trials) {
  int last = 0;
  for (const Trial& each : trials) last = std::max(last, each.number);
  return last + 1;
}

}  // namespace loom
