#pragma once
// All that the doctor says of a dataset, in one list: of its columns (engine/data/columns/findings), of its files and
// rows (checkDataset), of its parts, and of what the steps cannot do. One finding a column and kind; what a step mends
// is not said again.
#include <map>
#include <memory>
#include <optional>

#include "app/pages/data/findings_list.h"
#include "engine/base/error.h"
#include "engine/data/columns/findings.h"

namespace loom {

struct DataFinding {
  ShownFinding shown;  // without actions
  std::vector<TableRemedy> remedies;
  bool aboutFile = true;  // false: about the project (no validation set), nothing is wrong with the data
  QString key() const { return shown.column + '|' + shown.title; }
};

struct FindingsRequest {
  std::shared_ptr<const TableFacts> facts;  // may be null
  FindingsContext context;
  std::optional<CheckReport> report;
  std::vector<Fault> partFaults;
  std::optional<Error> error;                // of what the steps make of it
  QString gone = {};                         // the name of its file, where that is not there
  bool ownSteps = true;                      // false: the steps are another file's, whose lines are not these
  std::map<std::string, Shape> wanted = {};  // by column: the shape of the Input that takes it, or could
};

// Errors first, then warnings, infos, and what was looked at and is fine.
std::vector<DataFinding> dataFindings(const FindingsRequest& request);

}  // namespace loom
