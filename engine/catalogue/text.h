#pragma once
// How messages quote what a person wrote: short, and always valid UTF-8.
#include <string>
#include <string_view>

#include "engine/base/json.h"

namespace loom {

// At most `most` bytes, cut between characters and ended with "…" where something was left out.
std::string clipped(std::string_view text, std::size_t most = 60);
// A JSON value as a message shows it: "[3, 3]", "\"same\"".
std::string shown(const Json& value);
// A number without needless digits: "0.001", "10", "1e-06".
std::string shown(double value);
// Letter case folded (ASCII; ids and aliases are ASCII).
std::string folded(std::string_view text);

}  // namespace loom
