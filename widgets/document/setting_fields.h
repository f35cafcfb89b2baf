#pragma once
// What a key of the file is called where a person reads it: the catalogue's field behind it, and the engine's sentences
// with labels in the place of keys. In `loom` and in the file the keys stay.
#include <string>
#include <string_view>
#include <vector>

#include "engine/catalogue/entry.h"
#include "engine/network/analysis.h"
#include "engine/network/project.h"

namespace loom {

// Of "batch", "optimizer.learning_rate", "training[0].schedule.power"; null where no entry has it.
const Field* fieldOfSetting(std::string_view key);

// "'learning_rate' is 100" becomes "Learning rate is 100", "Set batch to 4" likewise.
void nameByLabels(std::vector<Problem>& problems, const Project& project);

}  // namespace loom
