#include "engine/data/check.h"

#include <algorithm>

#include "engine/base/words.h"
#include "engine/data/check_rows.h"
#include "engine/data/csv_format.h"
#include "engine/data/raw_rows.h"

namespace loom {
namespace {

// How the cells of a column are written, as far as that tells a mark of decimals from one between thousands.
struct MarkedNumbers {
  std::int64_t wholes = 0, thousands = 0;
  std::string example;
  bool other = false;  // a cell that cannot be of thousands

  void take(std::string_view cell, char mark) {
    if (!cell.empty() && (cell[0] == '-' || cell[0] == '+')) cell.remove_prefix(1);
    const auto digits = [](std::string_view text) {
      return text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    const std::size_t at = cell.find(mark);
    const std::string_view before = cell.substr(0, at);
    if (cell.empty() || before.empty() || before.size() > 3 || !digits(before)) {
      other = other || !cell.empty();
    } else if (at == std::string_view::npos) {
      ++wholes;
    } else if (before[0] != '0' && cell.size() == at + 4 && digits(cell.substr(at + 1))) {
      if (thousands++ == 0) example = cell;
    } else {
      other = true;
    }
  }
};

// 850 beside 1.234 and 12.345: each number with a mark has three digits behind it, and those without end at 999. They
// were read as decimals, a thousandth of what is rather meant.
void reportThousands(CheckedRows& rows) {
  constexpr std::int64_t kRows = 20'000, kFew = 3;
  if (rows.report.rows == 0) return;
  rows.guarded(rows.csv, [&] {
    const CsvFormat format = recogniseCsv(rows.csv, rows.options.format);
    if (format.thousands != 0) return;
    std::vector<MarkedNumbers> columns;
    std::int64_t seen = 0;
    const std::vector<std::string> header = readRecords(
        rows.csv,
        [&](std::int64_t, const std::vector<std::string>& cells) {
          columns.resize(std::max(columns.size(), cells.size()));
          for (std::size_t i = 0; i < cells.size(); ++i) columns[i].take(cells[i], format.decimal);
          return ++seen < kRows;
        },
        rows.options.format);
    for (std::size_t i = 0; i < std::min(header.size(), columns.size()); ++i) {
      const MarkedNumbers& column = columns[i];
      if (column.other || column.wholes == 0 || column.thousands < kFew || header[i].starts_with('#')) continue;
      std::string without = column.example;
      std::erase(without, format.decimal);
      rows.add({.kind = FaultKind::header,
                .severity = FaultSeverity::warning,
                .line = 1,
                .column = header[i],
                .found = fmt::format("'{}' is read as decimals unless the dataset says otherwise", column.example),
                .wanted = fmt::format("each mark has three digits behind it and no number without one is above 999, so "
                                      "{} is rather meant",
                                      without),
                .remedy = "choose the mark of thousands of the dataset, or write them without one"});
    }
  });
}

}  // namespace

CheckReport checkDataset(const std::filesystem::path& csv, const CheckOptions& options) {
  CheckReport report;
  CheckedRows rows(csv, options, report);
  rows.read();
  reportRows(rows);
  reportThousands(rows);
  std::stable_sort(report.faults.begin(), report.faults.end(), [](const Fault& a, const Fault& b) {
    return a.severity != b.severity ? a.severity < b.severity : a.line < b.line;
  });
  return report;
}

}  // namespace loom
