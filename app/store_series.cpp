#include "app/store_series.h"

#include <algorithm>

namespace loom {

ChartColumns StoreSeries::columns(XUnit unit, double from, double to, int width) const {
  const SeriesView view = m_store.view(m_run, m_series, toAxis(unit), {from, to}, width);
  ChartColumns chart;
  chart.points = view.points;
  chart.exact = view.exact;
  chart.columns.reserve(view.columns.size());
  for (const SeriesColumn& each : view.columns) {
    ChartColumn column;
    column.x = each.x;
    column.xFirst = each.xFirst;
    column.minimum = each.min;
    column.maximum = each.max;
    column.last = each.last;
    column.count = each.count;
    if (each.badStep >= 0) {
      column.bad = each.badValue;
      column.badX = each.count == 1 ? each.x : m_store.xOf(m_run, toAxis(unit), each.badStep);
    }
    chart.columns.push_back(column);
  }
  return chart;
}

std::optional<std::pair<double, double>> StoreSeries::extent(XUnit unit) const {
  const SeriesView view = m_store.view(m_run, m_series, toAxis(unit), {}, 1);
  if (view.columns.empty()) return {};
  return std::pair{view.columns.front().xFirst, view.columns.back().x};
}

ChartColumns StoreDifference::columns(XUnit unit, double from, double to, int width) const {
  ChartColumns whole = m_whole.columns(unit, from, to, width);
  const ChartColumns part = m_part.columns(unit, from, to, width);
  if (part.columns.size() != whole.columns.size()) return whole;  // a log without the part
  for (std::size_t i = 0; i < whole.columns.size(); ++i) {
    ChartColumn& column = whole.columns[i];
    const double last = std::max(0.0, column.last - part.columns[i].last);
    // Of folded columns the slowest step of each is compared: the bound that holds for both.
    column.minimum = column.count == 1 ? last : std::max(0.0, column.minimum - part.columns[i].minimum);
    column.maximum = column.count == 1 ? last : std::max(column.minimum, column.maximum - part.columns[i].maximum);
    column.last = last;
  }
  return whole;
}

}  // namespace loom
