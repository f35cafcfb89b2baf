#include "engine/training/row_notes.h"

#include <algorithm>
#include <utility>

#include "engine/data/cell_number.h"
#include "engine/data/columns/raw_columns.h"
#include "engine/data/raw_rows.h"

namespace loom {
namespace {

constexpr std::size_t kCells = 4, kLongest = 60;  // columns that are told, bytes of a cell

std::string cut(const std::string& cell) {
  if (cell.size() <= kLongest) return cell;
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(cell[end]) & 0xc0) == 0x80) --end;  // no half letter
  return cell.substr(0, end) + "…";
}

std::string nameOf(const std::string& header) {
  const std::size_t colon = header.find(':');
  // Of a vector's element the label says more: "x__0:humidity".
  return header.find("__") < colon && colon != std::string::npos ? header.substr(colon + 1) : header.substr(0, colon);
}

}  // namespace

void tellRows(const std::filesystem::path& csv, const CsvFormatChoice& choice, const std::vector<Json>& prepare,
              const std::vector<RowInput>& inputs, Predictions& predictions) {
  if (predictions.kept.empty() || csv.extension() == ".pack") return;
  const std::vector<std::string> header = readRecords(
      csv, [](std::int64_t, const auto&) { return false; }, choice);
  for (std::size_t c = 0; c < std::min(header.size(), kCells); ++c) predictions.heads.push_back(nameOf(header[c]));
  std::vector<std::pair<std::size_t, RawColumn>> watched;
  for (const RowInput& input : inputs)
    for (RawColumn& column : rawColumnsOf(prepare, input.variable, input.elements))
      for (std::size_t c = 0; c < header.size(); ++c)
        if (header[c].substr(0, header[c].find(':')) == column.name) watched.emplace_back(c, std::move(column));
  const CsvFormat format = recogniseCsv(csv, choice);
  std::size_t row = 0;
  readRecords(
      csv,
      [&](std::int64_t, const std::vector<std::string>& cells) {
        PredictedSample& sample = predictions.kept[row++];
        for (std::size_t c = 0; c < predictions.heads.size(); ++c)
          sample.cells.push_back(c < cells.size() ? cut(cells[c]) : std::string());
        for (const auto& [place, column] : watched) {
          if (place >= cells.size()) continue;
          std::string_view cell = cells[place];
          if (format.isPercent(place)) takePercent(cell);
          if (std::string mark = cellMark(column, std::string(cell), format); !mark.empty())
            sample.marks.push_back(std::move(mark));
        }
        return row < predictions.kept.size();
      },
      choice);
}

}  // namespace loom
