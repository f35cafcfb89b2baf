#include "engine/training/holes_to_predict.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "engine/base/error.h"
#include "engine/base/words.h"
#include "engine/data/columns/column_plan.h"
#include "engine/data/csv_rows.h"

namespace loom {
namespace {

constexpr std::size_t kMost = 100'000, kNamed = 8;  // cells that are looked at; lines that are named of a column

// By column of the file: the lines in which it is empty. Nothing where there are other faults.
std::map<std::string, std::set<std::int64_t>> holesIn(const std::filesystem::path& csv, const OpenOptions& options) {
  const CsvSource source{.format = recogniseCsv(csv, options.format),
                         .steps = columnStepsOf(options.prepare),
                         .needed = options.needed,
                         .everyRow = options.everyRow,
                         .heldOut = {}};
  CsvBlockReader reader(csv, 1 << 16, source.format);
  CsvBlock block;
  std::map<std::string, std::string> origins;  // of what the steps make
  if (reader.next(block, 1)) {
    std::size_t offset = 0;
    std::int64_t lines = 0;
    if (const auto plan = planOf(source, headerOf(block, source.format, offset, lines, [](const Fault&) {}), csv))
      for (const ColumnTable::Slot& slot : plan->slots()) origins[slot.name] = slot.origin;
  }
  std::map<std::string, std::set<std::int64_t>> holes;
  bool others = false;
  const auto take = [&](const RowFaults& found) {
    for (const Fault& fault : found.faults) {
      if (fault.severity != FaultSeverity::error) continue;
      if (fault.kind != FaultKind::emptyCell) {
        others = true;
        continue;
      }
      const std::string name = fault.column.substr(0, fault.column.find(':'));
      const auto origin = origins.find(name);
      holes[origin == origins.end() ? name : origin->second].insert(fault.line);
    }
  };
  RowConsumer consumer;
  consumer.rows = [&](RowChunk&, RowFaults& faults, std::int64_t, std::int64_t) { take(faults); };
  take(readRows({.csv = csv,
                 .source = source,
                 .threads = options.threads,
                 .decodeFiles = false,
                 .prepare = {},
                 .sizes = {},
                 .collect = true,
                 .listed = kMost},
                consumer));
  return others ? std::map<std::string, std::set<std::int64_t>>() : holes;
}

std::string linesText(const std::set<std::int64_t>& lines) {
  std::string text;
  std::size_t told = 0;
  for (auto line = lines.begin(); line != lines.end() && told < kNamed; ++line, ++told)
    text += (told > 0 ? ", " : "") + std::to_string(*line);
  return (lines.size() == 1 ? "line " : "lines ") + text + (lines.size() > kNamed ? " …" : "");
}

}  // namespace

std::string holesText(const std::filesystem::path& csv, const OpenOptions& options) {
  std::string text, names;
  try {
    for (const auto& [column, lines] : holesIn(csv, options)) {
      text += fmt::format("{}{} is empty in {} ({})", text.empty() ? "" : ", ", column,
                          counted(static_cast<std::int64_t>(lines.size()), "rows"), linesText(lines));
      names += (names.empty() ? "" : ", ") + column;
    }
  } catch (const Error&) {
    return {};  // the first error says what is wrong
  }
  if (text.empty()) return {};
  return fmt::format(
      "{}; no row that the network learnt from lacked them, and no step says what stands for a hole. Fill these cells "
      "or take the rows out of the file; or add the step Fill for {} to the preparation, which measures the median (or "
      "the most frequent word) on the training part, and train again",
      text, names);
}

}  // namespace loom
