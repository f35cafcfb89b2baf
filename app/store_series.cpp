#include "app/store_series.h"

#include <algorithm>
#include <limits>

#include "engine/base/error.h"

namespace loom {
namespace {

ChartColumns difference(ChartColumns whole, const ChartColumns& part) {
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

}  // namespace

ChartColumns StoreSeries::answer(const RunData& curves, const std::string& series, const Asked& asked) {
  const Axis axis = toAxis(asked.unit);
  const SeriesView view = curves.view(series, axis, {asked.from, asked.to}, asked.width);
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
      column.badX = each.count == 1 ? each.x : curves.xOf(axis, each.badStep);
    }
    chart.columns.push_back(column);
  }
  return chart;
}

StoreSeries::StoreSeries(const RunStore& store, QString run, std::string series)
    : m_store(store),
      m_run(run),
      m_series(series),
      m_question(
          store, run, [series](const RunData& curves, const Asked& asked) { return answer(curves, series, asked); },
          [this] { tellMore(); }) {}

ChartColumns StoreSeries::columns(XUnit unit, double from, double to, int width) const {
  const ChartColumns* const said = m_question.ask({unit, from, to, width});
  return said && m_question.answered()->unit == unit ? *said : ChartColumns();
}

// All points, read on the thread that calls it. What is not saved yet stands in memory and is taken from there at once.
std::function<ChartColumns()> StoreSeries::reader(XUnit unit) const {
  const double infinity = std::numeric_limits<double>::infinity();
  const Asked all{unit, -infinity, infinity, std::numeric_limits<int>::max()};
  const auto reading = m_store.allSaved(m_run) ? m_store.reading(m_run) : nullptr;
  if (!reading) {
    ChartColumns chart;
    m_store.ask(m_run, [&](const RunData& curves) { chart = answer(curves, m_series, all); });
    return [chart = std::move(chart)] { return chart; };
  }
  return [reading, all, series = m_series] {
    ChartColumns chart;
    reading([&](const RunData& curves) { chart = answer(curves, series, all); });
    return chart;
  };
}

StoreDifference::StoreDifference(const RunStore& store, const QString& run, std::string whole,
                                 const std::vector<std::string>& parts)
    : m_whole(store, run, std::move(whole)) {
  for (const std::string& each : parts) m_parts.push_back(std::make_unique<StoreSeries>(store, run, each));
}

ChartColumns StoreDifference::columns(XUnit unit, double from, double to, int width) const {
  ChartColumns rest = m_whole.columns(unit, from, to, width);
  for (const auto& part : m_parts) rest = difference(std::move(rest), part->columns(unit, from, to, width));
  return rest;
}

std::function<ChartColumns()> StoreDifference::reader(XUnit unit) const {
  std::vector<std::function<ChartColumns()>> parts;
  for (const auto& part : m_parts) parts.push_back(part->reader(unit));
  return [whole = m_whole.reader(unit), parts = std::move(parts)] {
    ChartColumns rest = whole();
    for (const auto& part : parts) rest = difference(std::move(rest), part());
    return rest;
  };
}

void StoreDifference::whenMore(std::function<void()> told) const {
  m_whole.whenMore(told);
  for (const auto& part : m_parts) part->whenMore(told);
}

}  // namespace loom
