#pragma once
// What a search found, in words and as a table: `loom search --report NAME`.
#include <string>

#include "engine/search/front.h"

namespace loom {

// What was refused before it trained, by reason: "12 candidates refused: Multiply-adds ...". Empty where nothing was.
std::string refusedText(const Study& study);

// Every trial with its costs, what was refused, the front against `kind`. Trials must have been looked at.
std::string reportText(const Study& study, const TrialCostKind& kind);

}  // namespace loom
