#pragma once
// A CSV as text, record by record, and the words of its classes.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/data/csv_format.h"

namespace loom {

// `visit(line, cells)` for each record behind the header, blank lines left out; false ends it. Answers the header's
// cells, or c1, c2, ... where the file has none. Throws Error(missingFile, inputOutput, badData) for what is no text at
// all.
using RecordVisitor = std::function<bool(std::int64_t line, const std::vector<std::string>& cells)>;
std::vector<std::string> readRecords(const std::filesystem::path& csv, const RecordVisitor& visit,
                                     const CsvFormatChoice& format = {});

// Different words of columns (by header, as written), in alphabetical order.
std::map<std::string, std::vector<std::string>> wordsOf(const std::filesystem::path& csv,
                                                        const std::vector<std::string>& columns,
                                                        const CsvFormatChoice& format = {});

// Writes `out`: the CSV with cells of the columns (by header up to its colon) as `change` answers them. Other cells
// stay as they stand; the text becomes UTF-8, what separates cells stays. Throws Error(missingFile, inputOutput,
// badData, badArgument: no such column, diskFull).
using CellChange = std::function<std::string(const std::string& cell)>;
void rewriteCells(const std::filesystem::path& csv, const CsvFormatChoice& format,
                  const std::vector<std::string>& columns, const CellChange& change, const std::filesystem::path& out);

// The words of a variable's classes 0, 1, 2 ... that stand beside a CSV, one a line: in NAME.VARIABLE.classes.txt, else
// in classes.txt of the folder; empty where there are none.
std::vector<std::string> classWords(const std::filesystem::path& csv, const std::string& variable);

}  // namespace loom
