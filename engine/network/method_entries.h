#pragma once
// The settings of what happens around a rule.
#include "engine/catalogue/entry.h"

namespace loom {

// Puts them into the entry of the settings, behind the clipping of gradients.
void addMethodEntries(Entry& settings);

}  // namespace loom
