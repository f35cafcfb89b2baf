#pragma once
// From the column steps of a project to those of a run: what is to be measured (medians, classes, means) is measured on
// the training part alone and written into the steps.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/data/columns/column_step.h"
#include "engine/data/row_choice.h"

namespace loom {

struct ResolvedColumns {
  std::vector<Json> steps;            // one column each, with explicit values
  std::vector<std::string> warnings;  // "column tank is empty: it is left out"
};

struct ResolveRequest {
  std::filesystem::path csv;
  CsvFormat format;
  std::vector<Json> steps;  // column steps of `prepare`
  RowChoice rows;           // the part that is held out is not looked at, whichever part is meant
  int threads = 0;
  std::function<bool(std::int64_t done, std::int64_t total)> progress;  // bytes; false cancels (Error stopped)
};

bool needsResolving(const std::vector<Json>& steps);
// Throws Error(badProject) for steps that cannot be done (a column that is not there, a date whose order is in doubt),
// Error(badData) for the file.
ResolvedColumns resolveColumns(const ResolveRequest& request);

// The same on rows that are texts already.
ResolvedColumns resolveColumns(const std::vector<Json>& steps, const CsvFormat& format,
                               const std::vector<std::string>& header,
                               const std::vector<std::vector<std::string>>& cells,
                               const std::vector<std::int64_t>& lines);

// The steps for another file than the one that they were made for: rows that were left out by their lines are the first
// file's own.
std::vector<Json> stepsForAnotherFile(std::vector<Json> steps);

}  // namespace loom
