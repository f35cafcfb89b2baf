#pragma once
#include <map>
#include <string>

#include "engine/program/backend.h"

namespace loom {

// Every input of the program with numbers that are always the same: normally distributed ones, and whole ones from
// [0, classes). Throws Error(internal) for an input of whole numbers whose classes are not told.
void fillInputs(Executable& executable, const std::map<std::string, std::int64_t>& classes);

}  // namespace loom
