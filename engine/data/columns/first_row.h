#pragma once
// A file without a header, whose first row would be taken for one: iris.data begins with "5.1,3.5,1.4,0.2,Iris-setosa".
#include <optional>

#include "engine/data/columns/findings.h"

namespace loom {

// Where each name could be a cell of its column: a number in a column of numbers, one of its words, a date, a file.
// Names that were given, since cells were alike or empty, say nothing; a type behind a colon says that it is a header.
std::optional<TableFinding> firstRowFinding(const TableFacts& facts);

}  // namespace loom
