#pragma once
// A unit as the catalogue would describe it, so that palette, add menu, card and form need no second way: pins from its
// Inputs and Outputs, one field an argument, of the type of its default.
#include "engine/network/project.h"

namespace loom {

inline constexpr char kRepeatKey[] = "repeat";  // of the form: Node::repeat, no argument may be called so

Entry unitEntry(const Project& project, const Network& unit);
// With the field for the repeat behind the arguments, and the values that a use gives: as a form edits it.
Entry useEntry(const Project& project, const Network& unit);
Json useValues(const Node& use);

}  // namespace loom
