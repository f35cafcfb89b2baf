// What the Runs page draws: the rows that are ticked, the settings in which they differ, the words that count them.
#include <QLabel>
#include <QStackedWidget>
#include <algorithm>
#include <cmath>

#include "app/group_series.h"
#include "app/pages/runs/run_board.h"
#include "app/pages/runs/run_rows.h"
#include "app/pages/runs/runs_model.h"
#include "app/pages/runs/runs_page.h"
#include "app/pages/runs/settings_panel.h"
#include "app/run_display.h"
#include "app/run_metrics.h"
#include "app/run_series.h"
#include "app/run_settings.h"
#include "app/store_series.h"
#include "app/workspace.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/controls/button.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/text.h"
#include "widgets/table/data_table.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

// Beside the name of a line at its end: sign, gaps and a value such as "100.00 %".
constexpr int kEndSignAndValue = 100, kNarrowestEnds = 118, kWidestEnds = 260;
constexpr std::size_t kColours = 30;     // that are not grey
constexpr std::size_t kMostLines = 100;  // more cannot be told apart, and would take the window's time

// A run has its colour for life; where more than thirty have come, those beyond are grey among many. The second of one
// colour, and few grey ones alone, take the colours that are free among what is shown, the oldest first.
QHash<QString, int> coloursFor(const std::vector<RunRows::Drawn>& drawn) {
  QHash<QString, int> colours;
  const auto hasColour = [](const RunRows::Drawn& each) { return each.colour < static_cast<int>(kColours); };
  QSet<int> taken;
  std::vector<const RunRows::Drawn*> others;
  for (const RunRows::Drawn& each : drawn)
    if (hasColour(each) && !taken.contains(each.colour))
      taken.insert(each.colour);
    else if (hasColour(each) || drawn.size() <= kColours)
      others.push_back(&each);
  std::stable_sort(others.begin(), others.end(), [](const auto* a, const auto* b) { return a->colour < b->colour; });
  int next = 0;
  for (const RunRows::Drawn* each : others) {
    while (taken.contains(next)) ++next;
    if (next >= static_cast<int>(kColours)) break;
    taken.insert(next);
    colours.insert(each->id, next);
  }
  return colours;
}

}  // namespace

void RunsPage::connectCharts() {
  connect(m_table, &DataTable::rowHovered, this, [this](int row) {
    const QModelIndex index = m_rows->index(row, 0);
    const QVariant group = index.data(RunRows::groupRole);
    highlight(row < 0           ? chosenLine()
              : group.isValid() ? group.toString()
                                : m_lineOf.value(index.data(RunsModel::idRole).toString()));
  });
  connect(m_charts, &ChartStack::lineHovered, this, &RunsPage::hover);
  connect(m_charts, &ChartStack::lineClicked, this, &RunsPage::choose);
  connect(m_settings, &SettingsPanel::lineHovered, this, [this](const QString& id) {
    hover(id);
    highlight(id.isEmpty() ? chosenLine() : m_lineOf.value(id));
    m_settings->setHighlighted(id.isEmpty() ? chosenRun() : id);
  });
  connect(m_settings, &SettingsPanel::lineClicked, this, &RunsPage::choose);
  connect(m_settings, &SettingsPanel::brushesChanged, this, &RunsPage::soon);
  connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] { highlight(chosenLine()); });
}

void RunsPage::setLines() {
  std::vector<RunRows::Drawn> all = m_rows->drawn(kMostLines, m_model->metricBetter());
  const QHash<QString, int> colours = coloursFor(all);
  for (RunRows::Drawn& each : all) each.colour = colours.value(each.id, each.colour);
  m_rows->setColours(colours);
  const QString metric = m_model->metric();
  const std::string validation = "validation." + metric.toStdString(), training = "epoch." + metric.toStdString();
  std::vector<ChartLine> metrics, losses;
  std::map<QString, std::vector<ChartLine>> others;  // by series
  std::map<QString, SeriesFace> faces;
  // A source that was drawn before has its answer: a curve that is read again would vanish for a moment.
  decltype(m_sources) sources;
  decltype(m_outlines) outlines;
  // Each chart has sources of its own: one that is asked for two widths in turn would read for ever.
  const auto source = [&](const QStringList& runs, const std::string& name,
                          const std::string& chart) -> std::shared_ptr<const SeriesSource> {
    std::vector<std::shared_ptr<const SeriesSource>> each;
    for (const QString& id : runs) {
      const std::pair key{id, chart + ':' + name};
      std::shared_ptr<StoreSeries>& kept = sources[key];
      if (const auto known = m_sources.find(key); !kept && known != m_sources.end()) kept = known->second;
      if (!kept) kept = std::make_shared<StoreSeries>(*context().store, id, name);
      each.push_back(kept);
    }
    if (each.size() == 1) return each.front();
    return std::make_shared<GroupSeries>(std::move(each), m_rows->spread());
  };
  m_drawn.clear();
  m_lineOf.clear();
  for (const RunRows::Drawn& row : all) {
    const RunRecord* const first = context().store->find(row.runs.front());
    if (!first) continue;
    m_drawn << row.id;
    bool read = true, hasLoss = true, hasValidation = true, hasTraining = true;
    for (const QString& id : row.runs) {
      m_lineOf.insert(id, row.id);
      auto& question = outlines[id];
      if (const auto known = m_outlines.find(id); known != m_outlines.end()) question = std::move(known->second);
      if (!question) question = outlineQuestion(*context().store, id, [this] { soon(); });
      const RunOutline* const outline = question->ask({m_charts->axis()->unit(), {}});
      read = read && outline;
      hasLoss = hasLoss && outline && outline->has(series::kLoss);
      hasValidation = hasValidation && outline && outline->has(validation);
      hasTraining = hasTraining && outline && outline->has(training);
    }
    if (!read) continue;
    ChartLine line{.id = row.id, .name = row.name, .colour = row.colour, .isMean = row.isMean()};
    if (!metric.isEmpty() && (hasValidation || hasTraining)) {
      ChartLine measured = line;
      measured.kind = LineKind::plain;
      measured.source = source(row.runs, hasValidation ? validation : training, RunBoard::kMetric);
      measured.value = context().runMetrics->kind(*first, metric);
      metrics.push_back(std::move(measured));
    }
    if (hasLoss) {
      ChartLine loss = line;
      loss.source = source(row.runs, series::kLoss, RunBoard::kLoss);
      loss.value = ValueKind::loss;
      losses.push_back(std::move(loss));
    }
    for (const RunBoard::Chart& each : m_board->charts()) {
      const std::string name = each.series.toStdString();
      if (each.panel == m_metric || each.panel == m_loss ||
          !std::all_of(row.runs.begin(), row.runs.end(), [&](const QString& id) {
            const RunOutline* const outline = outlines[id]->ask({m_charts->axis()->unit(), {}});
            return outline && outline->has(name);
          }))
        continue;
      const SeriesFace face = faceOfSeries(name, *context().runMetrics, *first);
      faces.try_emplace(each.series, face);
      ChartLine other = line;
      other.kind = face.line;
      other.value = face.value;
      other.source = source(row.runs, name, name);
      others[each.series].push_back(std::move(other));
    }
  }
  m_outlines = std::move(outlines);
  m_sources = std::move(sources);
  const ValueKind kind = m_model->metricKind();
  const QString title = metric.isEmpty() ? tr("accuracy") : titleOfMetric(metric).toLower();
  // Of all runs, not of those that the filter leaves: the title stays while one types.
  m_metric->setTitle(
      m_model->anyValidation() || metric.isEmpty() ? tr("Validation %1").arg(title) : tr("Training %1").arg(title),
      kind == ValueKind::accuracy ? "%" : QString());
  m_metric->setValueKind(kind);
  m_metric->setBetter(m_model->metricBetter());
  // Names stand whole at the ends of their lines as far as the chart can spare the room.
  const QFontMetrics text(Theme::withWeight(Theme::of(this).font(FontRole::axis), 600));
  QString widest;
  for (const ChartLine& line : metrics)
    if (line.name.size() > widest.size()) widest = line.name;
  m_endsRoom = std::clamp(text.horizontalAdvance(widest) + kEndSignAndValue, kNarrowestEnds, kWidestEnds);
  m_metric->setLines(std::move(metrics));
  m_loss->setLines(std::move(losses));
  for (const RunBoard::Chart& each : m_board->charts()) {
    if (each.panel == m_metric || each.panel == m_loss) continue;
    if (const auto face = faces.find(each.series); face != faces.end()) {
      each.panel->setValueKind(face->second.value);
      each.panel->setBetter(face->second.better);
    }
    each.panel->setLines(std::move(others[each.series]));
  }
  m_ofRuns.clear();
  for (const RunRows::Drawn& each : all)
    for (const QString& run : each.runs) m_ofRuns.insert(run, each.colour);
  showPanels();
  m_settingsSoon.start();
  // A run that is drawn no more would leave all others faint.
  if (!m_drawn.contains(m_metric->highlighted())) highlight(chosenLine());
}

void RunsPage::highlight(const QString& line) {
  const QString drawn = m_drawn.contains(line) ? line : QString();
  m_charts->setHighlighted(drawn);
  m_settings->setHighlighted(m_rows->isGrouped() ? chosenRun() : drawn);
}

void RunsPage::hover(const QString& id) {
  m_table->setHoveredRow(m_rows->rowOf(id));
}

void RunsPage::setRange() {
  const XUnit unit = m_charts->axis()->unit();
  double from = unit == XUnit::time ? 1e300 : 0, to = -1e300;
  for (const auto& [id, question] : m_outlines) {
    const RunOutline* const outline = question->ask({unit, {}});
    // What is read of one widens the range when it comes; before anything of this unit is known, what stood there
    // stands.
    if (!outline || !outline->loss || question->answered()->unit != unit) continue;
    from = std::min(from, outline->loss->first);
    to = std::max(to, outline->loss->second);
  }
  if (to > from || m_outlines.empty()) m_charts->axis()->setFull(to > from ? Interval{from, to} : Interval{0, 1});
}

void RunsPage::refreshWords() {
  refreshViews();
  const int all = m_model->count(), left = m_rows->accepted();
  m_count->setText(formatCount(all));
  m_search->setCount(left == all ? QString() : tr("%1 of %2").arg(formatCount(left), formatCount(all)));
  m_views->setCurrentIndex(all || !m_search->text().isEmpty() ? 0 : 1);
  const auto ticked = static_cast<qsizetype>(m_rows->ticked());
  m_metric->setEmptyText(all && !left ? tr("No run matches the filter")
                         : ticked > 0 ? tr("Nothing was measured yet in what is ticked")
                                      : tr("Tick runs in the table to draw them here"));
  const bool grouped = m_rows->isGrouped();
  m_compare->setText(tr("Compare %1").arg(counted(ticked, grouped ? tr("groups") : tr("runs"))));
  m_compare->setEnabled(ticked >= 2);
  QString words = tr("%1 shown").arg(counted(ticked, grouped ? tr("groups") : tr("runs")));
  if (ticked > m_drawn.size() && !m_drawn.isEmpty()) words += tr(", the best %1 drawn").arg(m_drawn.size());
  // Points as they were last drawn: lines that are set anew have none until then.
  Q_EMIT statusChanged(ticked == 0     ? QString()
                       : m_points == 0 ? words
                                       : tr("%1, %2 %3, 0 dropped")
                                             .arg(words, formatCount(static_cast<double>(m_points)),
                                                  m_points == 1 ? tr("point") : tr("points")));
}

}  // namespace loom
