#pragma once
// Rules that change from one to another over epochs: whose share it is. From the rule itself, as the engine runs it.
#include <functional>
#include <optional>
#include <string>

#include "engine/base/json.h"

namespace loom {

struct RuleShare {
  std::string of;                    // "LARS", "momentum"
  std::function<double(double)> at;  // from epochs done to a share of 0 to 1
};
// Nothing for a rule that stays what it is, and for one whose fields are no numbers.
std::optional<RuleShare> ruleShare(const Json& optimizer);

}  // namespace loom
