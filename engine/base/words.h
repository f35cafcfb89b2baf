#pragma once
// Counted things in a sentence: "1 row", "2 rows".
#include <cstdint>
#include <string>
#include <string_view>

namespace loom {

// "row" of "rows", "batch" of "batches", "axis" of "axes", "entry" of "entries"; of several words the last one changes.
std::string singular(std::string_view several);
std::string counted(std::int64_t count, std::string_view several);

}  // namespace loom
