#pragma once
// Which lines of a CSV are whose part, told from the cells as the file writes them: what is measured for the steps must
// not see rows that are held out, and the steps may change or leave out the columns that decide.
#include "engine/data/columns/table_pass.h"
#include "engine/data/row_choice.h"

namespace loom {

struct LineSplit {
  std::vector<bool> training;  // by line of the file: rows of the choice that are not held out
  std::vector<bool> heldOut;
};

// Throws Error(badProject) where a column of the choice is not there or holds no classes.
LineSplit splitLines(const TablePass& pass, const std::vector<Json>& steps, const RowChoice& rows);

// The rows of the file that the choice means, counted from 0 as analyseTable() counts them: those that are no data
// count too and are in no part. Ascending. Throws as splitLines() does.
std::vector<std::int64_t> rowsOfPart(const TablePass& pass, const std::vector<Json>& steps, const RowChoice& rows);

}  // namespace loom
