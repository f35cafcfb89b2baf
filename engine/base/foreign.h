#pragma once
// What a remote or a file of somebody else wrote: made fit to be shown, and read without trust.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/json_fwd.h"

namespace loom {

// Fit for a terminal and a label: control characters, those that turn the direction of writing and bytes that are no
// UTF-8 are spelled out ("\x1b"), and no more than `limit` bytes of it are shown. `several` keeps line ends and tabs,
// `one` spells them out, too.
enum class ShownLines { one, several };
inline constexpr std::size_t kLongestShown = 4000;
std::string shownText(std::string_view text, std::size_t limit = kLongestShown, ShownLines lines = ShownLines::several);

// Names and texts in it become so; what is nested deeper than 64 becomes null.
void makeShowable(Json& value);

// A value that is not there or of another type is NaN, 0 or empty, never an exception.
double numberIn(const Json& object, const char* key);
std::int64_t wholeIn(const Json& object, const char* key);
std::string textIn(const Json& object, const char* key);

}  // namespace loom
