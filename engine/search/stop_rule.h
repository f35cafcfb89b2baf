#pragma once
// Which trials of a search are not worth their remaining steps: a row of a table, a pure function of the curves.
#include <span>
#include <string>
#include <string_view>

#include "engine/search/trial.h"

namespace loom {

struct StopRule {
  std::string id, label, help;
  // `trials` holds all of the search, `trial` among them. Asked after each of its results.
  bool (*isWeak)(const Trial& trial, std::span<const Trial> trials);
};

std::span<const StopRule* const> stopRuleTable();
// Throws Error(badArgument) with the names that there are.
const StopRule& stopRuleNamed(std::string_view id);

}  // namespace loom
