#include "engine/data/columns/raw_columns.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/base/error.h"
#include "engine/data/cell_number.h"
#include "engine/data/columns/column_plan.h"
#include "engine/data/columns/target_meaning.h"
#include "engine/data/text.h"

namespace loom {
namespace {

// Columns that come of others by a step that only arranges them keep their steps under the names before it.
struct Names {
  std::map<std::string, std::string> origins;  // by the name that steps on values use: the file's column
  std::map<std::string, std::string> before;   // by the name that Rename gave: the one before

  Names(const std::vector<Json>& steps) {
    std::vector<Json> values;
    for (const Json& step : steps) {
      const Entry& entry = findColumnStep(step)->entry;
      const Values given(entry, step);
      if (entry.id == "Rename" && given.texts("variable").size() == 1) {
        const std::string to = given.text("to");
        before[to.substr(0, to.find(':'))] = given.texts("variable").front();
      } else if (entry.id != "Join") {
        values.push_back(step);
        if (!before.empty()) values.back()["variable"] = Json(unrenamed(given.texts("variable")));
      }
    }
    const ColumnPlan plan({}, {}, values,
                          {.file = {}, .needed = {}, .anyColumn = true, .everyRow = true, .heldOut = {}});
    for (const ColumnTable::Slot& slot : plan.slots()) {
      origins[slot.name] = slot.origin;
      origins.emplace(slot.origin, slot.origin);
    }
  }
  std::string originOf(const std::string& name) const {
    const auto found = origins.find(unrenamed({name}).front());
    return found == origins.end() ? std::string() : found->second;
  }
  std::vector<std::string> unrenamed(std::vector<std::string> names) const {
    for (std::string& name : names)
      for (std::size_t hops = 0; hops <= before.size(); ++hops)
        if (const auto found = before.find(name); found != before.end()) name = found->second;
    return names;
  }
};

const char* exampleOf(const std::string& order) {
  return order == "dmy" ? "31.03.2026" : order == "mdy" ? "03/31/2026" : "2026-03-31";
}

std::string numberText(double value) {
  return fmt::format("{:.6g}", value);
}

void learn(RawColumn& column, const Entry& entry, const Values& given, bool own) {
  if (entry.id == "Encode" && own) {
    column.kind = RawColumn::Kind::words;
    column.words = given.texts("classes");
    column.otherWords = given.text("unknown") == "own";
  } else if (entry.id == "DateParts") {
    column.kind = RawColumn::Kind::date;
    column.example = exampleOf(given.text("order"));
  } else if (entry.id == "Fill" && given.text("with") != "previous") {
    column.mayBeEmpty = true;
    if (own)
      column.filled = given.has("value")  ? numberText(given.real("value"))
                      : given.has("word") ? given.text("word")
                                          : "";
  } else if (entry.id == "Standardise" && own && given.has("mean") && given.has("deviation")) {
    column.mean = given.real("mean");
    column.deviation = given.real("deviation");
  }
}

std::vector<RawColumn> columnsOf(const std::vector<Json>& steps, const std::string& variable, std::int64_t elements) {
  const ColumnPlan whole({}, {}, steps, {.file = {}, .needed = {}, .anyColumn = true, .everyRow = true, .heldOut = {}});
  std::vector<RawColumn> columns;
  std::int64_t count = 0;
  for (const ColumnTable::Slot& slot : whole.slots()) {
    if (slot.name != variable && !slot.name.starts_with(variable + "__")) continue;
    ++count;
    if (std::none_of(columns.begin(), columns.end(), [&](const RawColumn& each) { return each.name == slot.origin; })) {
      columns.emplace_back();
      columns.back().name = slot.origin;
    }
  }
  if (count != elements) return {};
  const Names names(steps);
  std::set<std::string> bent;  // no longer the numbers of the file
  for (const Json& step : steps) {
    const Entry& entry = findColumnStep(step)->entry;
    const Values given(entry, step);
    if (entry.id == "Rename" || entry.id == "Join" || entry.id == "SkipRows" || entry.id == "LeaveOut") continue;
    for (const std::string& name : given.texts("variable")) {
      const std::string origin = names.originOf(name);
      for (RawColumn& column : columns)
        if (column.name == origin)
          learn(column, entry, given, names.unrenamed({name}).front() == origin && !bent.contains(origin));
      if (entry.id != "Fill" && entry.id != "Clip") bent.insert(origin);
    }
  }
  return columns;
}

std::vector<RawCell> cellsOf(const std::vector<Json>& steps, const std::string& variable,
                             std::span<const float> values) {
  const std::vector<RawColumn> columns = columnsOf(steps, variable, static_cast<std::int64_t>(values.size()));
  const ColumnPlan whole({}, {}, steps, {.file = {}, .needed = {}, .anyColumn = true, .everyRow = true, .heldOut = {}});
  std::map<std::string, std::vector<std::size_t>> elements;  // by column of the file
  std::map<std::string, TargetMeaning> meanings;
  std::size_t count = 0;
  for (const ColumnTable::Slot& slot : whole.slots()) {
    if (slot.name != variable && !slot.name.starts_with(variable + "__")) continue;
    elements[slot.origin].push_back(count++);
    TargetMeaning meaning{.column = slot.origin, .classes = {}, .links = {}};
    const bool back = std::all_of(slot.history.begin(), slot.history.end(),
                                  [&](const auto& effect) { return effect->invert(meaning); });
    if (back) meanings[slot.origin] = std::move(meaning);
  }
  std::vector<RawCell> cells;
  for (const RawColumn& column : columns) {
    const std::vector<std::size_t>& own = elements[column.name];
    const auto meaning = meanings.find(column.name);
    if (own.size() == 1 && meaning != meanings.end()) {
      const double value = meaning->second.inUnits(values[own[0]]);
      if (column.kind != RawColumn::Kind::words)
        cells.push_back({column.name, value, {}});
      else if (const auto at = static_cast<std::size_t>(value); value >= 0 && at < column.words.size())
        cells.push_back({column.name, {}, column.words[at]});
    } else if (column.kind == RawColumn::Kind::words && own.size() == column.words.size()) {
      // One-hot; scaled behind it, the largest is still the one that was met.
      const auto most =
          std::max_element(own.begin(), own.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
      if (values[*most] > 0)
        cells.push_back({column.name, {}, column.words[static_cast<std::size_t>(most - own.begin())]});
    }
  }
  return cells;
}

}  // namespace

std::vector<RawCell> rawCellsOf(const std::vector<Json>& steps, const std::string& variable,
                                std::span<const float> values) {
  const std::vector<Json> columns = columnStepsOf(steps);
  if (columns.empty()) return {};
  try {
    return cellsOf(columns, variable, values);
  } catch (const Error&) {
    return {};  // they cannot be done on these names alone
  }
}

std::vector<RawColumn> rawColumnsOf(const std::vector<Json>& steps, const std::string& variable,
                                    std::int64_t elements) {
  const std::vector<Json> columns = columnStepsOf(steps);
  if (columns.empty()) return {};
  try {
    return columnsOf(columns, variable, elements);
  } catch (const Error&) {
    return {};  // they cannot be done on these names alone
  }
}

std::string cellMark(const RawColumn& column, const std::string& cell, const CsvFormat& format) {
  double value = 0, word = 0;
  const auto first = cell.find_first_not_of(" \t\r\n");
  const std::string trimmed =
      first == std::string::npos ? std::string() : cell.substr(first, cell.find_last_not_of(" \t\r\n") - first + 1);
  const bool empty = trimmed.empty() ||
                     (column.kind != RawColumn::Kind::words && cellNumber(cell, format, value) == NumberKind::empty);
  if (empty)
    return !column.mayBeEmpty      ? std::string()
           : column.filled.empty() ? fmt::format("{} is empty: what is usual stands for it", column.name)
                                   : fmt::format("{} is empty: {} stands for it", column.name, column.filled);
  if (column.kind != RawColumn::Kind::words || !column.otherWords) return {};
  const bool number = cellNumber(trimmed, format, value) == NumberKind::number;
  for (const std::string& known : column.words)
    if (known == trimmed || (number && cellNumber(known, {}, word) == NumberKind::number && word == value)) return {};
  return fmt::format("{}: {} is none of the {} words that it was trained on", column.name, toldText(trimmed),
                     column.words.size());
}

}  // namespace loom
