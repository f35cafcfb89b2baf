#pragma once
// The table of runs for other programs: what the filter leaves, in the order shown, numbers in full.
#include <QByteArray>
#include <vector>

namespace loom {

class RunRows;
class RunsModel;

// `columns`: of the model, in the order in which they are seen; those that only draw (ticks, colours, dots) are left
// out. The head says what the filter calls each, shares are fractions; what is missing is empty. First the run's id,
// last its folder; both are empty for a group, whose best is a mean with `best_spread` beside it. UTF-8.
QByteArray tableCsv(const RunRows& rows, const RunsModel& model, const std::vector<int>& columns);

// One cell: in quotes where it has to be.
QString csvCell(QString text);

}  // namespace loom
