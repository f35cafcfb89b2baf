#include "engine/data/columns/row_split.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/base/error.h"
#include "engine/data/cell_number.h"
#include "engine/data/columns/date.h"
#include "engine/data/csv_cells.h"
#include "engine/data/csv_rows.h"
#include "engine/data/parts.h"

namespace loom {
namespace {

// A column of the file, by its own name or by the one that the steps gave it.
std::size_t columnOf(const std::string& name, const ColumnPlan& file, const std::vector<Json>& steps,
                     const std::vector<std::string>& header, const CsvFormat& format, const std::string& csv) {
  for (const ColumnTable::Slot& slot : file.slots())
    if (slot.name == name) return slot.place;
  const ColumnPlan made(header, format, steps, {.file = csv});
  for (const ColumnTable::Slot& slot : made.slots())
    if (slot.name == name)
      for (const ColumnTable::Slot& own : file.slots())
        if (own.name == slot.origin) return own.place;
  throwError(ErrorCode::badProject, "the split goes by '{}', but {} has no such column", name, csv);
}

double orderOf(std::string_view cell, const CsvFormat& format) {
  double value = 0;
  if (cellNumber(cell, format, value) == NumberKind::number) return value;
  Date date;
  for (const DateOrder order : {DateOrder::yearFirst, DateOrder::dayFirst, DateOrder::monthFirst})
    if (parseDate(cell, order, date)) return date.seconds();
  return -std::numeric_limits<double>::infinity();
}

// Words as numbers 0, 1, 2 ... in the order of the alphabet, so that the parts do not depend on the order of the rows.
std::vector<std::int64_t> numbered(const std::vector<std::string>& words) {
  std::map<std::string, std::int64_t> numbers;
  for (const std::string& word : words) numbers.emplace(word, 0);
  std::int64_t next = 0;
  for (auto& [word, number] : numbers) number = next++;
  std::vector<std::int64_t> all;
  all.reserve(words.size());
  for (const std::string& word : words) all.push_back(numbers.at(word));
  return all;
}

}  // namespace

LineSplit splitLines(const TablePass& pass, const std::vector<Json>& steps, const RowChoice& rows) {
  std::vector<Json> skipping;
  for (const Json& step : steps)
    if (findColumnStep(step)->entry.id == "SkipRows") skipping.push_back(step);
  const std::string file = pass.csv.filename().string();
  const std::vector<std::string> header = readHeader(pass.csv, pass.format);
  const ColumnPlan plan(header, pass.format, skipping, {.file = file});
  const HoldOut how = rows.holdOut.value_or(HoldOut{});
  const auto place = [&](const std::string& name) -> std::ptrdiff_t {
    if (name.empty()) return -1;
    return static_cast<std::ptrdiff_t>(columnOf(name, plan, steps, header, pass.format, file));
  };
  const std::ptrdiff_t by = place(how.by), group = place(how.group), order = place(how.order);
  std::vector<std::int64_t> lines;
  std::vector<std::string> classes, groups;
  std::vector<double> orders;
  passOver(pass, plan, [&](ColumnPlan::Rows& some) {
    lines.insert(lines.end(), some.lines.begin(), some.lines.end());
    const auto cells = [&](std::ptrdiff_t at) -> const std::vector<std::string_view>& {
      return some.cells[static_cast<std::size_t>(at)].text;
    };
    if (by >= 0) classes.insert(classes.end(), cells(by).begin(), cells(by).end());
    if (group >= 0) groups.insert(groups.end(), cells(group).begin(), cells(group).end());
    if (order >= 0)
      for (const std::string_view cell : cells(order)) orders.push_back(orderOf(cell, pass.format));
  });
  const auto all = static_cast<std::int64_t>(lines.size());
  const std::int64_t begin = std::clamp<std::int64_t>(rows.first < 0 ? all + rows.first : rows.first, 0, all);
  const std::int64_t end = rows.count < 0 ? all : std::min(all, begin + rows.count);
  SplitKeys keys{.rows = end - begin, .classes = {}, .groups = {}, .orders = {}};
  const auto part = [&](auto values) {
    if (!values.empty()) {
      values.erase(values.begin() + end, values.end());
      values.erase(values.begin(), values.begin() + begin);
    }
    return values;
  };
  if (by >= 0) keys.classes = numbered(part(classes));
  if (group >= 0) keys.groups = numbered(part(groups));
  keys.orders = part(orders);
  if (by >= 0 && !keys.classes.empty()) {
    const std::int64_t most = *std::max_element(keys.classes.begin(), keys.classes.end()) + 1;
    if (most > 2 && 2 * most > keys.rows)
      throwError(
          ErrorCode::badProject,
          "the split keeps the shares of '{}', but it holds {} different values in {} rows, which are no classes; "
          "split without classes",
          how.by, most, keys.rows);
  }
  LineSplit split;
  const std::size_t size = lines.empty() ? 1 : static_cast<std::size_t>(lines.back()) + 1;
  split.training.assign(size, false);
  split.heldOut.assign(size, false);
  const std::vector<bool> held =
      rows.holdOut ? heldRows(keys, how) : std::vector<bool>(static_cast<std::size_t>(keys.rows), false);
  for (std::int64_t row = begin; row < end; ++row) {
    const auto line = static_cast<std::size_t>(lines[static_cast<std::size_t>(row)]);
    (held[static_cast<std::size_t>(row - begin)] ? split.heldOut : split.training)[line] = true;
  }
  return split;
}

std::vector<std::int64_t> rowsOfPart(const TablePass& pass, const std::vector<Json>& steps, const RowChoice& rows) {
  const LineSplit split = splitLines(pass, steps, rows);
  const std::vector<bool>& part = rows.holdOut && rows.holdOut->held ? split.heldOut : split.training;
  std::vector<std::int64_t> found;
  CsvBlockReader reader(pass.csv, std::size_t{1} << 20, pass.format);
  CsvBlock block;
  std::string scratch;
  std::int64_t row = 0;
  for (bool first = true; reader.next(block); first = false) {
    std::size_t offset = 0;
    std::int64_t line = block.line, lines = 0;
    if (first) headerOf(block, pass.format, offset, lines, [](Fault) {});
    line += lines;
    const char* p = block.buffer.data() + offset;
    const char* const end = block.buffer.data() + block.size;
    while (p < end) {
      if (const char* blank = skipBlankLine(p, end)) {
        p = blank;
        ++line;
        continue;
      }
      const auto here = static_cast<std::size_t>(line);
      for (bool last = false; !last;) {
        const CsvCell cell = takeCell(p, end, scratch, pass.format.separator);
        last = cell.last;
        line += cell.lines;
      }
      if (here < part.size() && part[here]) found.push_back(row);
      ++row;
    }
    if (pass.progress && !pass.progress(block.end, reader.fileSize()))
      throwError(ErrorCode::stopped, "stopped while the rows of {} were counted", pass.csv.filename().string());
  }
  return found;
}

}  // namespace loom
