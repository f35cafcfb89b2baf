#pragma once
// The names that expressions in a node's values use ("=channels*4" uses `channels`): found, renamed, put in place of.
// Only words are looked at; what they mean is the engine's business.
#include <functional>
#include <set>
#include <string>

#include "engine/network/network.h"

namespace loom {

// The text after '=' with every name replaced by what `replace` answers for it. Names of functions ("max(") and what
// stands in brackets behind a name ("Input[0]") are left alone.
std::string replaceNames(const std::string& expression, const std::function<std::string(const std::string&)>& replace);

// In all expressions of the node: its values, lists of them included, and its repeat.
std::set<std::string> namesUsed(const Node& node);
std::set<std::string> namesUsed(const Json& value);
void renameIn(Json& value, const std::string& from, const std::string& to);
// `given` are values of names: a number, a boolean, or an expression, which is put in brackets. An expression that is
// nothing but a name becomes the value itself.
void substituteIn(Json& value, const Json& given);

}  // namespace loom
