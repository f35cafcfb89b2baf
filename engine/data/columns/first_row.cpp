#include "engine/data/columns/first_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "engine/catalogue/text.h"
#include "engine/data/cell_number.h"
#include "engine/data/columns/date.h"

namespace loom {
namespace {

bool isDate(const std::string& name) {
  Date date;
  return parseDate(name, DateOrder::yearFirst, date) || parseDate(name, DateOrder::dayFirst, date) ||
         parseDate(name, DateOrder::monthFirst, date);
}

bool couldBeCell(const ColumnFacts& column, std::size_t place, const CsvFormat& format) {
  if (column.header != column.name || column.name.starts_with('#')) return false;
  double value = 0;
  switch (column.type) {
    case ColumnType::number:
      return cellNumber(column.name, format, place, value) == NumberKind::number;
    case ColumnType::classes:
    case ColumnType::text:
      return std::any_of(column.words.begin(), column.words.end(),
                         [&](const ClassCount& each) { return each.word == column.name; });
    case ColumnType::date:
      return isDate(column.name);
    default:
      return std::filesystem::path(column.name).has_extension();
  }
}

bool firstLineIsRow(const TableFacts& facts) {
  if (!facts.format.header) return false;
  bool says = false;
  for (std::size_t c = 0; c < facts.columns.size(); ++c) {
    const ColumnFacts& column = facts.columns[c];
    const bool given = std::any_of(facts.told.begin(), facts.told.end(), [&](const Fault& fault) {
      return fault.kind == FaultKind::givenName && fault.column == column.header;
    });
    if (given || column.type == ColumnType::empty) continue;
    if (!couldBeCell(column, c, facts.format)) return false;
    says = true;
  }
  return says;
}

}  // namespace

std::optional<TableFinding> firstRowFinding(const TableFacts& facts) {
  constexpr std::size_t kMostOfALine = 80;
  if (!firstLineIsRow(facts)) return {};
  std::string line;
  for (const ColumnFacts& column : facts.columns) line += (line.empty() ? "" : ", ") + column.header;
  return TableFinding{
      .kind = FindingKind::firstRow,
      .severity = FaultSeverity::warning,
      .title = "The first line looks like a row",
      .detail = fmt::format("It names the columns now, and each of its cells could stand in its column: {}.",
                            clipped(line, kMostOfALine)),
      .remedies = {{.label = "It is a row", .writing = {{"header", false}}}, {.label = "Keep", .steps = {}}}};
}

}  // namespace loom
