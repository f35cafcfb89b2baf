#include "engine/data/columns/preview.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/data/cell_number.h"
#include "engine/data/columns/column_plan.h"
#include "engine/data/columns/measured_numbers.h"
#include "engine/data/columns/resolve.h"
#include "engine/data/columns/table_reader.h"

namespace loom {
namespace {

void describe(PreviewColumn& column) {
  RunningMoments moments;
  moments.add(column.numbers);
  column.mean = moments.mean();
  column.deviation = moments.deviation();
  bool any = false;
  for (const double value : column.numbers) {
    if (std::isnan(value)) continue;
    column.low = any ? std::min(column.low, value) : value;
    column.high = any ? std::max(column.high, value) : value;
    any = true;
  }
  column.histogram.assign(kColumnBins, 0);
  for (const double value : column.numbers)
    if (!std::isnan(value))
      ++column.histogram[column.high > column.low ? binOf(value, column.low, column.high) : kColumnBins / 2];
}

void take(const ColumnCells& cells, const ColumnPlan::Rows& rows, const CsvFormat& format, PreviewColumn& column) {
  ColumnCells numbers = cells;
  bool words = false;
  if (!cells.number) {
    std::size_t met = 0, faults = 0;
    for (const std::string_view text : cells.text) met += text.find_first_not_of(' ') != std::string_view::npos;
    makeNumbers(numbers, format, [&](CellFault) { ++faults; });
    words = 2 * faults > met;
  }
  column.number = !words;
  for (std::size_t row = 0; row < rows.count(); ++row) {
    if (rows.bad[row]) continue;
    if (words)
      column.texts.emplace_back(cells.text[row]);
    else
      column.numbers.push_back(numbers.numbers[row]);
  }
  if (!words) describe(column);
}

}  // namespace

std::vector<const PreviewColumn*> TablePreview::of(std::string_view column) const {
  std::vector<const PreviewColumn*> found;
  for (const PreviewColumn& one : after)
    if (one.origin == column || one.name == column) found.push_back(&one);
  return found;
}

TablePreview previewTable(const TableSample& sample, const CsvFormat& format, const std::vector<Json>& prepare) {
  TablePreview preview;
  const FaultSink tell = [&](Fault fault) { preview.faults.push_back(std::move(fault)); };
  const FaultSink ignore = [](Fault) {};
  ColumnPlan::Rows rows;
  const ColumnPlan file(sample.header, format, {});
  file.take(sample.cells, sample.lines, rows, ignore);
  for (const ColumnTable::Slot& slot : file.slots()) {
    PreviewColumn& column =
        preview.before.emplace_back(PreviewColumn{.name = slot.name, .label = slot.label, .origin = slot.origin});
    take(rows.cells[slot.place], rows, format, column);
  }
  try {
    preview.resolved = resolveColumns(columnStepsOf(prepare), format, sample.header, sample.cells, sample.lines).steps;
    const ColumnPlan plan(sample.header, format, preview.resolved);
    plan.take(sample.cells, sample.lines, rows, tell);
    plan.compute(rows, tell);
    for (std::size_t row = 0, at = 0; row < rows.count(); ++row) {
      while (sample.lines[at] != rows.lines[row]) ++at;
      if (!rows.bad[row]) preview.rows.push_back(static_cast<std::int64_t>(at));
    }
    for (const ColumnTable::Slot& slot : plan.slots()) {
      PreviewColumn& column =
          preview.after.emplace_back(PreviewColumn{.name = slot.name, .label = slot.label, .origin = slot.origin});
      take(rows.cells[slot.place], rows, format, column);
    }
  } catch (const Error& error) {
    tell({.kind = FaultKind::header, .column = {}, .found = error.what(), .wanted = {}, .remedy = {}, .variables = {}});
    preview.resolved.clear();
    preview.after.clear();
    preview.rows.clear();
  }
  return preview;
}

}  // namespace loom
