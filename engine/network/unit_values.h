#pragma once
// The arguments that a node gives to the unit that it uses.
#include "engine/network/project.h"

namespace loom {

// Null, a number, a truth value, a text (an expression too), or a list of numbers and texts.
bool isArgumentValue(const Json& value);
// Whether a value may stand for one like `usual`: a number or a list for a number, a text for a text. Of expressions
// nothing is known.
bool isAlike(const Json& value, const Json& usual);
// The first number of a value, or of its list, that lies outside an argument's range; null where none does. Of
// expressions nothing is known.
Json outOfRange(const Json& value, const Json& range);
std::string rangeWords(const Json& range);  // "1 to 64", "at least 1"
// `given` without what equals the unit's default, in the order of its arguments; what it does not know is kept.
Json withoutDefaults(const Network& unit, const Json& given);

}  // namespace loom
