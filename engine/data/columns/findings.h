#pragma once
// What the doctor says of a stranger's table: one finding a column, each with remedies that add steps of preparation
// and change no file. What steps that are there already mend is not said again.
#include <string>
#include <vector>

#include "engine/data/columns/analysis.h"

namespace loom {

// What a person is asked to find again, in place of steps: the CSV, or the folder of the files that it names.
enum class FindAgain { nothing, table, files };

struct TableRemedy {
  std::string label;        // "Fill with median"
  std::vector<Json> steps;  // to add; empty: nothing is added (the finding is accepted, or `split`)
  Json settings = {};       // of `training`, in place of steps: what is to be set
  Json writing = {};        // of the dataset, in place of steps: how the file is written
  bool split = false;       // opens the split instead
  FindAgain find = FindAgain::nothing;
};

enum class FindingKind {
  missing,       // empty cells
  unreadable,    // words among numbers
  text,          // words that are to become classes or to be left out
  date,          // a date that is to become numbers, or whose order is in doubt
  strayRows,     // rows that are no data
  unlikeScales,  // ranges differ
  twins,         // two columns say the same
  constant,      // one value everywhere
  emptyColumn,
  missingTarget,  // rows without what is to be predicted
  rareClass,      // classes with hardly a row, or with far fewer than others
  blurred,        // numbers that float32 does not tell apart
  noValidation,
  firstRow,  // the first line looks like one of the rows
  header,    // of the header or the file (TableFacts::told)
};
std::string_view toString(FindingKind kind);

struct TableFinding {
  FindingKind kind = FindingKind::header;
  FaultSeverity severity = FaultSeverity::error;
  std::vector<std::string> columns;   // that it is about
  std::string title;                  // "humidity: 31 empty"
  std::string detail;                 // a sentence with numbers
  std::vector<CellPlace> places;      // the first ones
  std::vector<TableRemedy> remedies;  // the best first, the way to keep things last
};

struct FindingsContext {
  std::vector<Json> prepare;         // of the dataset, as it stands in the project
  std::vector<std::string> targets;  // columns that are to be predicted; empty: the suggested one
  bool hasValidation = true;
  Json settings = Json::object();  // of `training`
  bool learnsClasses = true;       // a loss of classes is drawn, or nothing yet
};

// Whether the settings of a training have a remedy for rare classes.
bool balancesClasses(const Json& settings);

// Errors first, then warnings, then infos; within each in the order of the file.
std::vector<TableFinding> tableFindings(const TableFacts& facts, const FindingsContext& context = {});

}  // namespace loom
