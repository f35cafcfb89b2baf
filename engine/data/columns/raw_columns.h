#pragma once
// The columns of a file behind a variable of the dataset, and what each of them may hold, read from resolved steps
// alone: the file itself need not be there any more.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/json.h"
#include "engine/data/csv_format.h"

namespace loom {

struct RawColumn {
  enum class Kind { number, words, date };
  std::string name;
  Kind kind = Kind::number;
  std::vector<std::string> words;         // the classes that were met
  bool otherWords = false;                // another word is taken too, as none of them
  std::string example;                    // of a date, in the order of the column
  bool mayBeEmpty = false;                // a step fills it
  std::string filled;                     // with this; empty where it is not known as a text
  std::optional<double> mean, deviation;  // of numbers, where they were measured
};

// In the order of the variable's `elements`. Empty where steps do not name a column for each: then the file has the
// variable's own columns.
std::vector<RawColumn> rawColumnsOf(const std::vector<Json>& steps, const std::string& variable, std::int64_t elements);

// Numbers of a sample as the pack holds them, led back to the cells of the file: a number in its column's unit, or the
// word of a class.
struct RawCell {
  std::string name;
  std::optional<double> number;
  std::string word;  // else
};
// In the order of the variable's elements; columns that the steps do not lead back to (of a date) are left out. Empty
// as rawColumnsOf().
std::vector<RawCell> rawCellsOf(const std::vector<Json>& steps, const std::string& variable,
                                std::span<const float> values);

// What was put in place of a cell as the file has it: "town: 'Ulm' is none of the 3 words that it was trained on",
// "area is empty: 104 stands for it". Empty: it was taken as it is.
std::string cellMark(const RawColumn& column, const std::string& cell, const CsvFormat& format);

}  // namespace loom
