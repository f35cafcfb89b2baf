#pragma once
// Once through the rows of a CSV as cells, on several threads, handed on in order.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/data/columns/column_plan.h"

namespace loom {

struct TablePass {
  std::filesystem::path csv;
  CsvFormat format;
  int threads = 0;
  std::function<bool(std::int64_t done, std::int64_t total)> progress;  // bytes; false cancels (Error stopped)
};

// The header as the file writes it. Throws Error(badData) where there is none.
std::vector<std::string> readHeader(const std::filesystem::path& csv, const CsvFormat& format);
// `visit` gets the cells with the plan's steps applied. Faults of rows and cells are passed over: whoever makes a
// dataset of the rows tells them.
void passOver(const TablePass& pass, const ColumnPlan& plan, const std::function<void(ColumnPlan::Rows&)>& visit);

}  // namespace loom
