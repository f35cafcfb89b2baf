#include "engine/search/strategy.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/search/stop_rule.h"

namespace loom {
namespace {

template <class Row>
const Row& rowNamed(std::span<const Row* const> table, std::string_view id, const char* what) {
  std::string known;
  for (const Row* each : table) {
    if (each->id == id) return *each;
    known += (known.empty() ? "" : ", ") + each->id;
  }
  throwError(ErrorCode::badArgument, "there is no {} '{}': choose one of {}", what, id, known);
}

}  // namespace

const SearchStrategy& strategyNamed(std::string_view id) {
  return rowNamed(strategyTable(), id, "strategy");
}

const StopRule& stopRuleNamed(std::string_view id) {
  return rowNamed(stopRuleTable(), id, "rule for weak trials");
}

bool isTaken(const SoFar& soFar, const Point& point) {
  return std::any_of(soFar.trials.begin(), soFar.trials.end(),
                     [&](const Trial& trial) { return trial.point == point; }) ||
         std::find(soFar.refused.begin(), soFar.refused.end(), point) != soFar.refused.end();
}

std::set<std::string> takenKeys(const SoFar& soFar) {
  std::set<std::string> taken;
  for (const Trial& each : soFar.trials) taken.insert(keyOf(each.point));
  for (const Point& each : soFar.refused) taken.insert(keyOf(each));
  return taken;
}

}  // namespace loom
