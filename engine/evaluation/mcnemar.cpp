#include "engine/evaluation/mcnemar.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace loom {

McNemar mcNemar(std::int64_t nowRight, std::int64_t nowWrong) {
  constexpr std::int64_t kExact = 1000;
  McNemar result{.both = 0, .nowRight = nowRight, .nowWrong = nowWrong, .pValue = 1};
  const std::int64_t all = nowRight + nowWrong, fewer = std::min(nowRight, nowWrong);
  if (all == 0) return result;
  const auto n = static_cast<double>(all);
  if (all > kExact) {
    const double apart = std::max(0.0, std::abs(static_cast<double>(nowRight - nowWrong)) - 1);
    result.pValue = std::erfc(std::sqrt(apart * apart / n / 2));
    return result;
  }
  double chance = 0;  // of at most `fewer` out of n by a fair coin
  for (std::int64_t k = 0; k <= fewer; ++k) {
    const auto each = static_cast<double>(k);
    chance += std::exp(std::lgamma(n + 1) - std::lgamma(each + 1) - std::lgamma(n - each + 1) - n * std::log(2.0));
  }
  result.pValue = std::min(1.0, 2 * chance);
  return result;
}

McNemar compare(std::span<const EvaluatedSample> before, std::span<const EvaluatedSample> now) {
  std::unordered_map<std::int64_t, bool> right;
  for (const EvaluatedSample& each : before)
    if (each.finite) right[each.sample] = each.right;
  std::int64_t both = 0, nowRight = 0, nowWrong = 0;
  for (const EvaluatedSample& each : now) {
    const auto found = right.find(each.sample);
    if (!each.finite || found == right.end()) continue;
    ++both;
    nowRight += each.right && !found->second;
    nowWrong += !each.right && found->second;
  }
  McNemar result = mcNemar(nowRight, nowWrong);
  result.both = both;
  return result;
}

}  // namespace loom
