#pragma once
// What a person should know before this run starts: how its batch, rate, warm-up, ranks and data go together, in words, with
// remedies. Pure; the rules of large batches and their sources stand at each.
#include <cstdint>

#include "app/pages/settings/train_advice.h"

namespace loom {

class ProjectDocument;

struct RunOutlook {
  std::int64_t samples = -1;      // of the training set; -1 = not known
  std::int64_t stepsPerEpoch = 0, steps = 0, warmupSteps = 0;  // 0 = not known, none
  std::int64_t ranks = 1;         // virtual ones included
  bool virtualRanks = false;
};

// Of update `index` of the document's training, whose settings are numbers.
std::vector<Advice> adviseOnRun(ProjectDocument& document, std::size_t index, const RunOutlook& outlook);

}  // namespace loom
