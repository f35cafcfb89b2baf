#pragma once
// Empty cells of a file that is to be predicted. Where the training part had none in a column, no step says what stands
// for one: nothing is put there unasked, but the columns and rows are all named, with what can be done.
#include <filesystem>
#include <string>

#include "engine/data/dataset.h"

namespace loom {

// "a is empty in 2 rows (lines 3, 6) and town in 1 row (line 4), ...": of a CSV that could not be opened so. Empty
// where empty cells are not all that is wrong with it. Reads the file.
std::string holesText(const std::filesystem::path& csv, const OpenOptions& options);

}  // namespace loom
