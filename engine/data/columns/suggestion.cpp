#include "engine/data/columns/suggestion.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/base/error.h"
#include "engine/data/columns/column_step.h"
#include "engine/data/columns/preview.h"

namespace loom {
namespace {

bool isMedia(const ColumnFacts& column) {
  return column.type == ColumnType::picture || column.type == ColumnType::sound || column.type == ColumnType::matrix;
}

bool isIgnored(const ColumnFacts& column) {
  return column.header.empty() || column.header[0] == '#';
}

// A number or a word of its own in every row tells the rows apart and nothing else.
bool isIdentity(const ColumnFacts& column) {
  if (column.type == ColumnType::text) return true;
  std::string small = column.name;
  for (char& c : small) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
  const bool named = small == "id" || small.ends_with("_id") || small == "index" || small == "row";
  return column.type == ColumnType::number && named && column.whole &&
         (column.distinctMore || column.distinct == column.count);
}

TargetChoice choiceOf(const ColumnFacts& column) {
  TargetChoice choice{.column = column.name, .why = {}};
  if (isMedia(column)) {
    choice.kind = TargetKind::picture;
    choice.why = "pictures, sounds or matrices";
  } else if (column.likelyClasses()) {
    choice.kind = TargetKind::classes;
    choice.classes = column.distinct;
    choice.why = fmt::format("{} {}, each in at least {} rows", column.distinct,
                             column.type == ColumnType::classes ? "classes" : "whole numbers",
                             column.words.empty() ? 0 : column.words.back().rows);
  } else {
    choice.why =
        fmt::format("{} different numbers", column.distinctMore ? "very many" : std::to_string(column.distinct));
  }
  return choice;
}

std::vector<TargetChoice> targetsOf(const TableFacts& facts) {
  std::vector<const ColumnFacts*> columns;
  for (const ColumnFacts& column : facts.columns)
    if (canBeTarget(column)) columns.push_back(&column);
  const auto rank = [](const ColumnFacts& column) {
    const std::string& name = column.name;
    if (name == "y") return 0;
    if (column.header.ends_with(":label") || column.header.ends_with(":class") || name == "label" || name == "class" ||
        name == "target")
      return 1;
    return isMedia(column) || isIdentity(column) ? 3 : 2;
  };
  std::reverse(columns.begin(), columns.end());  // the last one first
  std::stable_sort(columns.begin(), columns.end(),
                   [&](const ColumnFacts* a, const ColumnFacts* b) { return rank(*a) < rank(*b); });
  std::vector<TargetChoice> targets;
  for (const ColumnFacts* column : columns) targets.push_back(choiceOf(*column));
  return targets;
}

Json step(const char* name, const Json& variable, Json more = Json::object()) {
  Json json = {{"step", name}, {"variable", variable}};
  json.update(more);
  return json;
}

}  // namespace

bool neverChanges(const ColumnFacts& column) {
  return (column.type == ColumnType::number || column.type == ColumnType::classes) && column.distinct == 1 &&
         !column.distinctMore && column.count > 1;
}

bool canBeTarget(const ColumnFacts& column) {
  return !isIgnored(column) && column.type != ColumnType::empty && column.type != ColumnType::date &&
         column.type != ColumnType::text && !neverChanges(column);
}

TargetChoice targetChoice(const ColumnFacts& column) {
  return choiceOf(column);
}

std::string_view toString(TargetKind kind) {
  constexpr std::string_view names[] = {"classes", "number", "picture"};
  return names[static_cast<std::size_t>(kind)];
}

Json datePartsOf(const ColumnFacts& date) {
  const auto yearOf = [](double seconds) {
    const std::chrono::sys_days day{std::chrono::days(static_cast<std::int64_t>(std::floor(seconds / 86400)))};
    return static_cast<int>(std::chrono::year_month_day(day).year());
  };
  Json parts = Json::array({"day_of_year", "weekday"});
  if (yearOf(date.low) != yearOf(date.high)) parts.insert(parts.begin(), "year");
  if (date.dateHasTime) parts.push_back("hour");
  return parts;
}

TableSuggestion suggestTable(const TableFacts& facts, const std::string& target, std::optional<TargetKind> as) {
  TableSuggestion suggestion;
  suggestion.targets = targetsOf(facts);
  const ColumnFacts* predicted = target.empty()
                                     ? (suggestion.targets.empty() ? nullptr : facts.find(suggestion.targets[0].column))
                                     : facts.find(target);
  if (!predicted)
    throwError(ErrorCode::badArgument, "{}",
               target.empty() ? "no column of the table can be predicted: numbers or classes are needed"
                              : fmt::format("the table has no column '{}'", target));
  suggestion.target = choiceOf(*predicted);
  if (as && suggestion.target.kind != *as && predicted->type == ColumnType::number && predicted->likelyClasses()) {
    suggestion.target.kind = *as;
    suggestion.target.classes = 0;
    suggestion.target.why = fmt::format("{} different numbers", predicted->distinct);
  }
  suggestion.output = predicted->name;
  std::vector<std::string> left, filled, words, wordsFilled, scaled, joined;
  std::vector<const ColumnFacts*> dates;
  for (const ColumnFacts& column : facts.columns) {
    if (isIgnored(column) || &column == predicted) continue;
    if (column.type == ColumnType::empty) {
      left.push_back(column.name);
      suggestion.leftOut.push_back(column.name + ": it is empty");
    } else if (isIdentity(column)) {
      left.push_back(column.name);
      suggestion.leftOut.push_back(column.name + ": nearly every row has another " +
                                   (column.type == ColumnType::text ? "text" : "number"));
    } else if (column.type == ColumnType::classes && column.histogram.empty() && column.distinct > kMostWordColumns) {
      left.push_back(column.name);
      suggestion.leftOut.push_back(
          fmt::format("{}: {} different words, and each would be a column", column.name, column.distinct));
    } else if (isMedia(column)) {
      suggestion.pictures.push_back(column.name);
    } else {
      joined.push_back(column.name);
      if (column.type == ColumnType::classes && !column.histogram.empty()) continue;
      if (column.type == ColumnType::classes) {
        words.push_back(column.name);
        if (column.missing > 0) wordsFilled.push_back(column.name);
      } else if (column.type == ColumnType::date) {
        dates.push_back(&column);
        scaled.push_back(column.name);
        if (column.missing > 0) filled.push_back(column.name);
      } else {
        scaled.push_back(column.name);
        if (column.missing > 0) filled.push_back(column.name);
      }
    }
  }
  std::vector<Json>& steps = suggestion.steps;
  const bool faulty =
      facts.strayRows > 0 || std::any_of(facts.columns.begin(), facts.columns.end(), [](const ColumnFacts& column) {
        return !isIgnored(column) && column.unreadable > 0;
      });
  if (faulty || predicted->missing > 0) {
    Json skip = {{"step", "SkipRows"}};
    if (faulty) skip["faulty"] = true;
    if (predicted->missing > 0) skip["missing"] = Json::array({predicted->name});
    steps.push_back(std::move(skip));
  }
  if (!left.empty()) steps.push_back(step("LeaveOut", left));
  if (!wordsFilled.empty()) steps.push_back(step("Fill", wordsFilled, {{"with", "most_frequent"}}));
  if (!words.empty()) steps.push_back(step("Encode", words, {{"form", "one_hot"}, {"unknown", "own"}}));
  for (const ColumnFacts* date : dates)
    steps.push_back(step("DateParts", Json::array({date->name}), {{"parts", datePartsOf(*date)}}));
  if (!filled.empty()) steps.push_back(step("Fill", filled));
  if (!scaled.empty()) steps.push_back(step("Standardise", scaled));
  const bool wordTarget = predicted->type == ColumnType::classes && predicted->histogram.empty();
  if (suggestion.target.kind == TargetKind::classes &&
      (wordTarget || predicted->low != 0 || predicted->high + 1 != static_cast<double>(predicted->distinct)))
    steps.push_back(step("Encode", Json::array({predicted->name})));
  if (suggestion.target.kind == TargetKind::number)
    steps.push_back(step("Standardise", Json::array({predicted->name})));
  if (joined.empty()) {
    suggestion.input.clear();
    return suggestion;
  }
  while (suggestion.input == predicted->name || std::find(suggestion.pictures.begin(), suggestion.pictures.end(),
                                                          suggestion.input) != suggestion.pictures.end())
    suggestion.input += "s";
  steps.push_back(step("Join", joined, {{"into", suggestion.input}}));
  if (facts.sample)
    for (const PreviewColumn& column : previewTable(*facts.sample, facts.format, steps).after)
      suggestion.inputs += column.name.starts_with(suggestion.input + "__");
  return suggestion;
}

}  // namespace loom
