#include "widgets/chart/series_source.h"

#include <algorithm>
#include <cmath>

namespace loom {

std::function<ChartColumns()> SeriesSource::reader(XUnit unit) const {
  const double infinity = std::numeric_limits<double>::infinity();
  return [all = columns(unit, -infinity, infinity, std::numeric_limits<int>::max())] { return all; };
}

void ChartColumn::add(double pointX, double value) {
  if (count == 0) xFirst = pointX;
  x = pointX;
  last = value;
  ++count;
  if (std::isfinite(value)) {
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
  } else if (!bad) {
    bad = value;
    badX = pointX;
  }
}

ChartColumns VectorSource::columns(XUnit, double from, double to, int width) const {
  ChartColumns result;
  const auto before = [](const std::pair<double, double>& point, double x) { return point.first < x; };
  const auto after = [](double x, const std::pair<double, double>& point) { return x < point.first; };
  auto first = std::lower_bound(m_points.begin(), m_points.end(), from, before);
  auto last = std::upper_bound(m_points.begin(), m_points.end(), to, after);
  if (first > last) return result;
  result.points = last - first;
  if (first != m_points.begin()) --first;
  if (last != m_points.end()) ++last;
  const auto count = last - first;
  if (count <= std::max(width, 2)) {
    for (auto point = first; point != last; ++point) {
      ChartColumn column;
      column.add(point->first, point->second);
      result.columns.push_back(column);
    }
    return result;
  }
  result.exact = false;
  const double span = to - from;
  std::int64_t current = std::numeric_limits<std::int64_t>::min();
  for (auto point = first; point != last; ++point) {
    // The neighbours outside get columns of their own, -1 and width.
    const double place = span > 0 ? (point->first - from) / span * width : 0;
    const std::int64_t column = point->first < from ? -1
                                : point->first > to
                                    ? width
                                    : std::min<std::int64_t>(width - 1, static_cast<std::int64_t>(place));
    if (column != current) {
      result.columns.emplace_back();
      current = column;
    }
    result.columns.back().add(point->first, point->second);
  }
  return result;
}

}  // namespace loom
