#pragma once
// Columns of numbers that say the same: one of the two can go without loss.
#include <string>
#include <vector>

#include "engine/data/columns/analysis.h"

namespace loom {

struct TwinColumns {
  std::string first, second;  // in the order of the file
  double correlation = 0;     // of the sample, 1 or -1 within a thousandth
};
// `columns`: those of `facts` that are compared. Each is told once at most as the second.
std::vector<TwinColumns> twinsOf(const TableFacts& facts, const std::vector<const ColumnFacts*>& columns);

}  // namespace loom
