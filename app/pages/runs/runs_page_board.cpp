// The charts of the Runs page: which there are, where they stand, and how a person chooses others.
#include <QLabel>
#include <QPointer>
#include <algorithm>
#include <set>

#include "app/pages/runs/run_board.h"
#include "app/pages/runs/run_rows.h"
#include "app/pages/runs/runs_page.h"
#include "app/pages/runs/series_card.h"
#include "app/pages/runs/settings_panel.h"
#include "app/run_series.h"
#include "app/smoothing_slider.h"
#include "app/workspace.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/table/table_sort_model.h"

namespace loom {
namespace {

constexpr int kNarrow = 1000, kWide = 1200;
constexpr int kLeastChart = 300, kMostPerRow = 4, kLeastRow = 168;  // pixels, of charts side by side
constexpr int kBareEnds = 16;                                       // right of a plot without names

}  // namespace

void RunsPage::showPanels() {
  // One chart in a narrow window, and which; the settings where there is room for all.
  const bool narrow = width() < kNarrow;
  m_which->setVisible(narrow);
  m_badge->setVisible(!narrow);  // the status strip tells of points too
  for (Button* each : {m_export, m_folder}) each->setText(narrow ? QString() : each->accessibleName());
  m_settings->setVisible(width() >= kWide && !m_settings->isEmpty());
  const std::vector<RunBoard::Chart>& charts = m_board->charts();
  QStringList titles;
  for (const RunBoard::Chart& each : charts) titles << m_board->titleOf(each);
  QStringList before;
  for (int i = 0; i < m_which->count(); ++i) before << m_which->itemText(i);
  if (titles != before) {
    const int chosen = std::clamp<int>(m_which->currentIndex(), 0, static_cast<int>(titles.size()) - 1);
    m_which->clear();
    m_which->addItems(titles);
    m_which->setCurrentIndex(chosen);
  }
  std::vector<LineChart*> panels;
  for (std::size_t i = 0; i < charts.size(); ++i) {
    const bool shown = !narrow || m_which->currentIndex() == static_cast<int>(i);
    charts[i].panel->setVisible(shown);
    if (shown) panels.push_back(charts[i].panel);
    // Names stand at the first chart; beside it the lines of another take all the room.
    const bool named = narrow || i == 0;
    charts[i].panel->setLineEnds(named ? LineEnds::oneLine : LineEnds::none);
    PanelMargins margins = charts[i].panel->margins();
    margins.right = named ? m_endsRoom : kBareEnds;
    if (margins.right != charts[i].panel->margins().right) charts[i].panel->setMargins(margins);
  }
  const int room = m_settings->isHidden() ? width() : width() * kChartsShare / (kChartsShare + kSettingsShare);
  const int perRow = narrow ? 1 : std::clamp(room / kLeastChart, 1, kMostPerRow);
  const auto rows = narrow ? 1 : (static_cast<int>(charts.size()) + perRow - 1) / perRow;
  m_charts->arrange(panels, perRow);
  m_charts->setMinimumHeight(rows > 1 ? rows * kLeastRow : 0);
  m_addChart->setEnabled(!m_board->isFull());
}

void RunsPage::connectBoard() {
  connect(m_board, &RunBoard::changed, this, [this] {
    for (const RunBoard::Chart& each : m_board->charts()) {
      each.panel->setSmoothing(m_smoothing->weight());
      connect(each.panel, &LineChart::drawn, this, &RunsPage::refreshBadge, Qt::UniqueConnection);
    }
    showPanels();
    soon();
    refreshViews();
  });
  connect(m_board, &RunBoard::choosing, this, [this](const QString& series, LineChart* panel) {
    QMetaObject::invokeMethod(
        this, [this, series, panel] { chooseSeries(series, panel); }, Qt::QueuedConnection);
  });
  connect(m_board, &RunBoard::removed, this, [this](const QString& title, const QJsonArray& before) {
    context().notify(
        {tr("The chart %1 was removed.").arg(title), tr("Undo"), [page = QPointer<RunsPage>(this), before] {
           if (page) page->m_board->restore(before);
         }});
  });
  for (const RunBoard::Chart& each : m_board->charts())
    connect(each.panel, &LineChart::drawn, this, &RunsPage::refreshBadge, Qt::UniqueConnection);
}

std::vector<std::pair<QString, QString>> RunsPage::seriesOffered() const {
  std::set<std::string> names;
  for (const auto& [id, question] : m_outlines)
    if (const RunOutline* const outline = question->ask({m_charts->axis()->unit(), {}}))
      names.insert(outline->names.begin(), outline->names.end());
  std::vector<std::pair<QString, QString>> offers;
  const auto offer = [&](const QString& key, const QString& title) {
    if (!m_board->shows(key)) offers.emplace_back(key, title);
  };
  offer(RunBoard::kMetric, tr("What runs are compared by"));
  offer(RunBoard::kLoss, m_loss->title());
  const auto first = static_cast<std::ptrdiff_t>(offers.size());
  for (const std::string& name : names)
    if (isCurve(name) && name != series::kLoss)
      offer(QString::fromStdString(name), titleOfSeries(QString::fromStdString(name)));
  std::sort(offers.begin() + first, offers.end(),
            [](const auto& a, const auto& b) { return naturalLess(a.second, b.second); });
  return offers;
}

void RunsPage::addChart() {
  if (!m_board->isFull()) chooseSeries({}, m_addChart);
}

void RunsPage::chooseSeries(const QString& instead, QWidget* anchor) {
  std::vector<SeriesCard::Offer> offers;
  for (const auto& [key, title] : seriesOffered()) offers.push_back({key, title});
  delete m_card;
  auto* card = new SeriesCard(offers, window());
  m_card = card;
  connect(card, &SeriesCard::chosen, this, [this, instead](const QString& key) {
    instead.isEmpty() ? m_board->add(key) : m_board->replace(instead, key);
  });
  card->openAt(anchor);
}

void RunsPage::refreshBadge() {
  std::int64_t points = 0;
  std::size_t columns = 0;
  bool every = true;
  for (const RunBoard::Chart& each : m_board->charts()) {
    if (each.panel->isHidden()) continue;
    points += each.panel->shownPoints();
    columns += each.panel->shownColumns();
    every = every && each.panel->everyPointShown();
  }
  m_points = points;
  m_badge->setText(!points ? QString()
                   : every
                       ? tr("Every point shown")
                       : tr("%1 points folded into %2 columns, minimum and maximum kept")
                             .arg(formatCount(static_cast<double>(points)), formatCount(static_cast<double>(columns))));
  refreshWords();
}

}  // namespace loom
