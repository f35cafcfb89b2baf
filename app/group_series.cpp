#include "app/group_series.h"

#include <algorithm>
#include <cmath>

namespace loom {
namespace {

struct Around {
  double value = 0, low = 0, high = 0;  // low and high: of points that are folded into one column
};

Around aroundOf(const ChartColumn& column) {
  return {(column.minimum + column.maximum) / 2, column.minimum, column.maximum};
}

// A run at x: the column there, or what lies on the straight line between its neighbours. `from`: where to look on.
std::optional<Around> aroundAt(const std::vector<ChartColumn>& columns, double x, std::size_t& from) {
  while (from + 1 < columns.size() && columns[from].x < x) ++from;
  const ChartColumn& right = columns[from];
  if (!right.finite()) return std::nullopt;
  if (from == 0 || right.x <= x) return aroundOf(right);
  const ChartColumn& left = columns[from - 1];
  if (!left.finite()) return std::nullopt;
  const double share = (x - left.x) / (right.x - left.x);
  const Around a = aroundOf(left), b = aroundOf(right);
  return Around{a.value + share * (b.value - a.value), a.low + share * (b.low - a.low),
                a.high + share * (b.high - a.high)};
}

}  // namespace

ChartColumns GroupSeries::mean(const std::vector<ChartColumns>& members, Spread spread) {
  ChartColumns mean;
  if (members.empty()) return mean;
  double first = -std::numeric_limits<double>::infinity(), last = -first;
  const ChartColumns* finest = &members.front();
  for (const ChartColumns& each : members) {
    if (each.columns.empty()) return {};  // it is being read
    mean.points += each.points;
    mean.exact = mean.exact && each.exact;
    first = std::max(first, each.columns.front().x);
    last = std::min(last, each.columns.back().x);
    if (each.columns.size() > finest->columns.size()) finest = &each;
  }
  std::vector<std::size_t> from(members.size(), 0);
  for (const ChartColumn& grid : finest->columns) {
    if (grid.x < first || grid.x > last) continue;
    ChartColumn column;
    column.x = grid.x;
    column.xFirst = grid.xFirst;
    column.count = grid.count;
    std::vector<double> values;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto place = aroundAt(members[i].columns, grid.x, from[i]);
      if (!place) break;
      values.push_back(place->value);
      low = std::min(low, place->low);
      high = std::max(high, place->high);
    }
    if (values.size() < members.size()) {
      column.last = std::nan("");
      column.bad = column.last;
      column.badX = grid.x;
    } else {
      const SeedSpread sample = seedSpreadOf(values, spread);
      column.last = sample.mean;
      column.minimum = spread == Spread::range ? low : sample.low;
      column.maximum = spread == Spread::range ? high : sample.high;
    }
    mean.columns.push_back(column);
  }
  return mean;
}

ChartColumns GroupSeries::columns(XUnit unit, double from, double to, int width) const {
  std::vector<ChartColumns> all;
  for (const auto& each : m_members) all.push_back(each->columns(unit, from, to, width));
  return mean(all, m_spread);
}

std::function<ChartColumns()> GroupSeries::reader(XUnit unit) const {
  std::vector<std::function<ChartColumns()>> readers;
  for (const auto& each : m_members) readers.push_back(each->reader(unit));
  return [readers, spread = m_spread] {
    std::vector<ChartColumns> all;
    for (const auto& each : readers) all.push_back(each());
    return mean(all, spread);
  };
}

void GroupSeries::whenMore(std::function<void()> told) const {
  for (const auto& each : m_members) each->whenMore(told);
}

}  // namespace loom
