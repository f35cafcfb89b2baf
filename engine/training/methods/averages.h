#pragma once
// What rows refuse that leave weights to evaluate of their own.
#include "engine/training/methods/method.h"

namespace loom {

// `what`: "Lookahead evaluates its slow weights".
inline std::optional<MethodRefusal> refuseSecondAverage(const MethodCompany& company, const std::string& what) {
  if (!company.evaluates.empty())
    return MethodRefusal{what + ", but the rule " + company.evaluates.front() +
                             " has weights to evaluate of its own; set afterwards to none, or take another rule",
                         "afterwards", "none"};
  if (company.has("evaluated_weights", "average"))
    return MethodRefusal{what + ", which leaves no place for an average beside them; set evaluated_weights to last",
                         "evaluated_weights", "last"};
  return std::nullopt;
}

}  // namespace loom
