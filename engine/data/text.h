#pragma once
// Text of a data file as a message may show it, and what is text at all.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace loom {

// The cell in quotes, cut after 60 bytes, with what does not print written as \xNN: safe for a terminal and a log.
std::string quotedText(std::string_view cell);

// The same for what stands where a number or a name is wanted: a long text is no slip of a value and is nobody's
// business, so only its length is told.
std::string toldText(std::string_view cell);

// Offset of the first byte that is not UTF-8 (overlong forms and surrogates included); npos when all is.
std::size_t findNonUtf8(std::string_view text);

// "a PNG image", "a ZIP or Excel file", "UTF-16 text", ...: told from the first bytes; empty when nothing is
// recognised.
std::string_view kindByContent(std::string_view start);

// Levels of memory and files, for people: "64 MB".
std::string sizeText(std::uintmax_t bytes);

}  // namespace loom
