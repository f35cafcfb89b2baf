#pragma once
// The mean of the same curve of several runs, with how far they lie apart: as a chart's line that isMean. At each x the
// runs are taken between their points; it goes only as far as all of them do, and breaks where one is not finite.
#include <memory>
#include <vector>

#include "app/run_groups.h"
#include "widgets/chart/series_source.h"

namespace loom {

class GroupSeries : public SeriesSource {
 public:
  GroupSeries(std::vector<std::shared_ptr<const SeriesSource>> members, Spread spread)
      : m_members(std::move(members)), m_spread(spread) {}
  ChartColumns columns(XUnit unit, double from, double to, int width) const override;
  std::function<ChartColumns()> reader(XUnit unit) const override;
  void whenMore(std::function<void()> told) const override;

  static ChartColumns mean(const std::vector<ChartColumns>& members, Spread spread);

 private:
  std::vector<std::shared_ptr<const SeriesSource>> m_members;
  Spread m_spread;
};

}  // namespace loom
