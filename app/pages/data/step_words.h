#pragma once
// Steps of preparation as a person calls them.
#include <QString>

#include "engine/base/json.h"
#include "engine/catalogue/entry.h"

namespace loom {

// Of a step of `prepare`; null for what is none.
const Entry* prepareEntry(const Json& step);
// "Fill humidity with median", "Skip 3 rows", "Encode state", "Bring all to 28×28".
QString stepWords(const Json& step);
// What the step does with what it never saw while it was measured: another file's rows. Empty where nothing can be new
// to it.
QString stepAndTheNew(const Json& step);

}  // namespace loom
