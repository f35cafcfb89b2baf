#include "engine/data/columns/twins.h"

#include <cmath>

#include "engine/data/cell_number.h"
#include "engine/data/columns/column_step.h"

namespace loom {

std::vector<TwinColumns> twinsOf(const TableFacts& facts, const std::vector<const ColumnFacts*>& columns) {
  constexpr std::size_t kLeastRows = 10, kMostColumns = 200;
  constexpr double kSame = 0.999;
  std::vector<TwinColumns> twins;
  if (!facts.sample) return twins;
  const std::size_t rows = facts.sample->cells.size();
  if (rows < kLeastRows || columns.size() > kMostColumns) return twins;
  std::vector<std::vector<double>> values;
  for (const ColumnFacts* column : columns) {
    const auto c = static_cast<std::size_t>(column - facts.columns.data());
    std::vector<double>& own = values.emplace_back(rows, kMissing);
    for (std::size_t row = 0; row < rows; ++row) {
      double value;
      const auto& cells = facts.sample->cells[row];
      if (c < cells.size() && cellNumber(cells[c], facts.format, c, value) == NumberKind::number)
        own[row] = value - column->mean;
    }
  }
  for (std::size_t b = 0; b < columns.size(); ++b)
    for (std::size_t a = 0; a < b; ++a) {
      double both = 0, first = 0, second = 0;
      for (std::size_t row = 0; row < rows; ++row) {
        const double product = values[a][row] * values[b][row];
        if (std::isnan(product)) continue;
        both += product;
        first += values[a][row] * values[a][row];
        second += values[b][row] * values[b][row];
      }
      if (!(first > 0 && second > 0)) continue;
      const double correlation = both / std::sqrt(first * second);
      if (std::abs(correlation) < kSame) continue;
      twins.push_back({columns[a]->name, columns[b]->name, correlation});
      break;
    }
  return twins;
}

}  // namespace loom
