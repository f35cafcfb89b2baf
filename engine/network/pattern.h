#pragma once
// Glob patterns over parameter names, as `parameters` and `decay_exclude` of an update use them.
#include <string_view>

namespace loom {

// '*' stands for any text (also none, also with '/'), '?' for one character. Linear in text times stars.
bool matchesPattern(std::string_view pattern, std::string_view text);

}  // namespace loom
