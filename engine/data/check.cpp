#include "engine/data/check.h"

#include <algorithm>

#include "engine/data/check_rows.h"

namespace loom {

CheckReport checkDataset(const std::filesystem::path& csv, const CheckOptions& options) {
  CheckReport report;
  CheckedRows rows(csv, options, report);
  rows.read();
  reportRows(rows);
  std::stable_sort(report.faults.begin(), report.faults.end(), [](const Fault& a, const Fault& b) {
    return a.severity != b.severity ? a.severity < b.severity : a.line < b.line;
  });
  return report;
}

}  // namespace loom
