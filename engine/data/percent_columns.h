#pragma once
// Columns of a CSV whose numbers are percents. A run keeps their names: 12 % and 0.12 mean the same, and 12 and 0.12 do
// not, so a file that writes a column otherwise than the one that was learnt from is refused.
#include <filesystem>
#include <string>
#include <vector>

#include "engine/data/csv_rows.h"

namespace loom {

// By name, in the order of the file; empty for a pack.
std::vector<std::string> percentColumns(const std::filesystem::path& csv, const CsvFormatChoice& format = {});
// What is to be said where a column that the source reads is one of percents here and not in `learnt`, or the other way
// round; empty: nothing.
std::string otherPercents(const std::filesystem::path& csv, const CsvSource& source,
                          const std::vector<std::string>& learnt);

}  // namespace loom
