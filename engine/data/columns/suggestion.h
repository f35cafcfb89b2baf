#pragma once
// How a stranger's table could be trained: what to predict, what it is, and the steps that make numbers of all columns.
#include <optional>
#include <string>
#include <vector>

#include "engine/data/columns/analysis.h"

namespace loom {

enum class TargetKind { classes, number, picture };
std::string_view toString(TargetKind kind);

struct TargetChoice {
  std::string column;
  TargetKind kind = TargetKind::number;
  std::int64_t classes = 0;  // of a class target
  std::string why;           // "4 words, each in at least 499 rows"
};

struct TableSuggestion {
  std::vector<TargetChoice>
      targets;              // the likeliest first: y, a column called label or class, then the last column ...
  TargetChoice target;      // the one that the steps are for
  std::vector<Json> steps;  // of preparation, in their order
  std::string input = "x";  // the vector of all other columns; empty where there are none
  std::int64_t inputs = 0;  // how many numbers it has
  std::string output;       // the variable that is predicted
  std::vector<std::string> pictures;  // variables that are pictures, sounds or matrices: Inputs of their own
  std::vector<std::string> leftOut;   // "id: every row has another word"
};

// Words of a column that become numbers of a vector each; a column of more is left out.
inline constexpr std::int64_t kMostWordColumns = 300;

// Whether the column can be predicted: numbers, classes, pictures or sounds; not what is empty, a date, or a text of
// its own in every row.
bool canBeTarget(const ColumnFacts& column);
bool neverChanges(const ColumnFacts& column);  // one number or class in several rows: it cannot be predicted either
TargetChoice targetChoice(const ColumnFacts& column);

// The parts of a date that a network can learn from: the year where there are several (one alone is a constant, which
// the training part could say nothing of), the day of the year, the weekday, the hour where there is one.
Json datePartsOf(const ColumnFacts& date);

// `target` empty: the likeliest. `as`: how whole numbers of few values are meant, which can be both; empty: as classes.
// Rows without a target are skipped, holes filled, words encoded, dates parted, numbers (a number target too)
// standardised, and all joined into `input`. Throws Error(badArgument) where the table has no such column.
TableSuggestion suggestTable(const TableFacts& facts, const std::string& target = {},
                             std::optional<TargetKind> as = {});

}  // namespace loom
