#pragma once
// What Standardise and RobustScale have in common: y = (x - centre) / spread; and what any measure does with a column
// that holds nothing.
#include <fmt/format.h>

#include "engine/data/columns/column_step.h"

namespace loom {

class LinearEffect final : public ColumnEffect {
 public:
  LinearEffect(double centre, double spread) : m_centre(centre), m_spread(spread) {}
  void apply(std::vector<ColumnCells>& cells, const CellFaultSink&) const override {
    for (double& value : cells[0].numbers) value = (value - m_centre) / m_spread;
  }
  bool invert(TargetMeaning& target) const override {
    target.links.insert(target.links.begin(), {.by = m_spread, .add = m_centre});
    return true;
  }

 private:
  double m_centre, m_spread;
};

// The step that stands for one that found nothing to measure.
inline Json leftOut(const std::string& column, const std::function<void(std::string)>& warn) {
  warn(fmt::format("column {} is empty in the training part: it is left out", column));
  return {{"step", "LeaveOut"}, {"variable", column}};
}

}  // namespace loom
