#pragma once
// The rows of a CSV beside what is predicted of them: their own first cells, and what was put in place of a cell.
#include <filesystem>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/data/csv_format.h"
#include "engine/run/predictions.h"

namespace loom {

struct RowInput {
  std::string variable;
  std::int64_t elements = 1;
};

// Fills heads, and cells and marks of the samples that are kept. Reads the file up to the last of these.
void tellRows(const std::filesystem::path& csv, const CsvFormatChoice& format, const std::vector<Json>& prepare,
              const std::vector<RowInput>& inputs, Predictions& predictions);

}  // namespace loom
