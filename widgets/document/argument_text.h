#pragma once
// Values of arguments as a person types them: "32", "0.5", "on", "3×3", "channels*2", "same".
#include <QString>
#include <set>
#include <string>

#include "engine/base/json.h"

namespace loom {

QString argumentText(const Json& value);
// A number, on or off, a list; an expression where it begins with '=' or uses a word of `names`; else a text. Null for
// nothing.
Json readArgument(const QString& text, const std::set<std::string>& names);

}  // namespace loom
