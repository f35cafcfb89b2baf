#include "app/pages/runs/run_board.h"

#include <QJsonObject>
#include <QMenu>
#include <algorithm>

#include "app/run_series.h"
#include "widgets/chart/chart_stack.h"

namespace loom {

RunBoard::RunBoard(ChartStack& stack, LineChart& metric, LineChart& loss, QObject* parent)
    : QObject(parent), m_stack(stack), m_metric(metric), m_loss(loss), m_charts{{kMetric, &metric}, {kLoss, &loss}} {
  for (LineChart* each : {&metric, &loss}) {
    each->setMenu([this, each](QMenu& menu) { fillMenu(each, menu); });
    connect(each, &LineChart::logarithmicChanged, this, &RunBoard::changed);
  }
}

const RunBoard::Chart* RunBoard::chart(const QString& series) const {
  const auto found =
      std::find_if(m_charts.begin(), m_charts.end(), [&](const Chart& each) { return each.series == series; });
  return found == m_charts.end() ? nullptr : &*found;
}

QString RunBoard::titleOf(const Chart& chart) const {
  return chart.panel->title();
}

LineChart* RunBoard::panelFor(const QString& series) {
  if (series == kMetric) return &m_metric;
  if (series == kLoss) return &m_loss;
  LineChart* const panel = m_stack.addPanel(titleOfSeries(series), {}, 2);
  panel->setObjectName("chart:" + series);
  panel->setMenu([this, panel](QMenu& menu) { fillMenu(panel, menu); });
  connect(panel, &LineChart::logarithmicChanged, this, &RunBoard::changed);
  return panel;
}

// Those of the page itself are hidden: they may come back with all that is set in them.
void RunBoard::discard(const Chart& chart) {
  if (chart.panel == &m_metric || chart.panel == &m_loss)
    chart.panel->hide();
  else
    m_stack.removePanel(chart.panel);
}

void RunBoard::add(const QString& series) {
  if (isFull() || shows(series) || series.isEmpty()) return;
  m_charts.push_back({series, panelFor(series)});
  Q_EMIT changed();
}

void RunBoard::remove(const QString& series) {
  const Chart* const found = chart(series);
  if (!found || m_charts.size() < 2) return;
  const Chart gone = *found;
  const QString title = titleOf(gone);
  const QJsonArray before = save();
  m_charts.erase(m_charts.begin() + (found - m_charts.data()));
  discard(gone);
  Q_EMIT changed();
  Q_EMIT removed(title, before);
}

void RunBoard::replace(const QString& series, const QString& by) {
  const Chart* const found = chart(series);
  if (!found || by.isEmpty() || by == series || shows(by)) return;
  const auto place = found - m_charts.data();
  const Chart gone = *found;
  m_charts[static_cast<std::size_t>(place)] = {by, panelFor(by)};
  m_charts[static_cast<std::size_t>(place)].panel->setLogarithmic(gone.panel->isLogarithmic());
  discard(gone);
  Q_EMIT changed();
}

QJsonArray RunBoard::save() const {
  QJsonArray charts;
  for (const Chart& each : m_charts)
    charts << QJsonObject{{"series", each.series}, {"log", each.panel->isLogarithmic()}};
  return charts;
}

QJsonArray RunBoard::usual() {
  return {QJsonObject{{"series", kMetric}, {"log", false}}, QJsonObject{{"series", kLoss}, {"log", false}}};
}

// What is shown already keeps its panel, with its lines and its zoom.
void RunBoard::restore(const QJsonArray& charts) {
  std::vector<Chart> wanted, before = m_charts;
  std::vector<bool> logs;
  for (const auto& value : charts) {
    const QJsonObject each = value.toObject();
    const QString series = each["series"].toString();
    const auto same = [&](const Chart& chart) { return chart.series == series; };
    if (series.isEmpty() || wanted.size() >= kMostCharts || std::any_of(wanted.begin(), wanted.end(), same)) continue;
    const auto known = std::find_if(before.begin(), before.end(), same);
    wanted.push_back({series, known == before.end() ? panelFor(series) : known->panel});
    logs.push_back(each["log"].toBool(false));
  }
  if (wanted.empty()) return restore(usual());
  m_charts = wanted;
  for (const Chart& each : before)
    if (!shows(each.series)) discard(each);
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i].panel->setLogarithmic(logs[i]);
  Q_EMIT changed();
}

void RunBoard::fillMenu(LineChart* panel, QMenu& menu) {
  const auto own =
      std::find_if(m_charts.begin(), m_charts.end(), [&](const Chart& each) { return each.panel == panel; });
  if (own == m_charts.end()) return;
  const QString series = own->series;
  connect(menu.addAction(tr("Show another curve here…")), &QAction::triggered, this,
          [this, series, panel] { Q_EMIT choosing(series, panel); });
  QAction* const gone = menu.addAction(tr("Remove this chart"));
  gone->setEnabled(m_charts.size() > 1);
  connect(gone, &QAction::triggered, this, [this, series] { remove(series); });
}

}  // namespace loom
