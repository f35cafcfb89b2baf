#pragma once
// What the planner finds about a run before it starts (engine/planner), in words and with buttons.
#include "app/pages/settings/train_advice.h"
#include "engine/planner/run_advice.h"

namespace loom {

class ProjectDocument;

// Of update `index` of the document's training. Throws Error(badProject) where its settings are no numbers.
std::vector<Advice> adviceInWords(ProjectDocument& document, std::size_t index, const RunOutlook& outlook);

}  // namespace loom
