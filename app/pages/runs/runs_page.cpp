#include "app/pages/runs/runs_page.h"

#include <QAction>
#include <QApplication>
#include <QElapsedTimer>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QJsonArray>
#include <QLabel>
#include <QPainter>
#include <QStackedWidget>
#include <algorithm>

#include "app/exports.h"
#include "app/pages/runs/run_board.h"
#include "app/pages/runs/run_rows.h"
#include "app/pages/runs/runs_model.h"
#include "app/pages/runs/settings_panel.h"
#include "app/run_display.h"
#include "app/run_metrics.h"
#include "app/run_settings.h"
#include "app/smoothing_slider.h"
#include "app/store_series.h"
#include "app/workspace.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/controls/button.h"
#include "widgets/controls/choice_field.h"
#include "widgets/controls/empty_state.h"
#include "widgets/controls/folding_choice.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/splitter.h"
#include "widgets/controls/switch.h"
#include "widgets/controls/text.h"
#include "widgets/table/data_table.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kSoonMs = 100, kTypingRestMs = 150, kLongestTypingMs = 1000, kSpreadRoom = 66;
constexpr qint64 kCostShare = 8, kMostMs = 2000;

QStringList tagsOf(const QString& text) {
  QStringList tags;
  for (const QString& each : text.split(',', Qt::SkipEmptyParts))
    if (const QString tag = each.trimmed(); !tag.isEmpty() && !tags.contains(tag)) tags << tag;
  return tags;
}

}  // namespace

RunsPage::RunsPage(AppContext& context, QWidget* parent) : Page(context, parent) {
  m_model = new RunsModel(*context.store, *context.runMetrics, this);
  m_rows = new RunRows(*m_model, *context.runMetrics, this);
  m_table = new DataTable;
  m_table->setObjectName("runs-table");
  m_table->setAccessibleName(tr("Runs"));
  m_table->setSortingEnabled(true);
  m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_table->setContextMenuPolicy(Qt::CustomContextMenu);
  m_table->setModel(m_rows);
  m_table->setAllRows(
      {.checked = [this] { return m_rows->allShown(); }, .check = [this](bool on) { m_rows->setAllShown(on); }});
  m_table->sortByColumn(-1, Qt::DescendingOrder);

  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  column->addWidget(makeBar());
  column->addWidget(hairline());
  m_split = new Splitter(Qt::Vertical);
  m_split->setChildrenCollapsible(false);
  m_split->addWidget(makeCharts());
  m_split->addWidget(m_table);
  m_split->setInitialSizes({372, 420});
  m_split->setSizes({372, 420});
  m_views = new QStackedWidget;
  m_views->addWidget(m_split);
  auto* empty = new EmptyState(Figure::curves, tr("Every Train makes a run; it shows up here while it runs"));
  empty->setAction("import", tr("Open run folder"));
  connect(empty, &EmptyState::actionTriggered, this, &RunsPage::openFolder);
  m_views->addWidget(empty);
  column->addWidget(m_views, 1);

  m_soon.setSingleShot(true);
  connect(&m_soon, &QTimer::timeout, this, &RunsPage::refreshSoon);
  m_asked.start();
  m_settingsSoon.setSingleShot(true);
  m_settingsSoon.setInterval(0);
  connect(&m_settingsSoon, &QTimer::timeout, this, &RunsPage::refreshSettings);
  m_columnsSoon.setSingleShot(true);
  m_columnsSoon.setInterval(kSoonMs);
  connect(&m_columnsSoon, &QTimer::timeout, this, &RunsPage::setColumns);
  connect(context.store, &RunStore::pointsAdded, this, [this](const QString& id) {
    if (m_lineOf.contains(id)) soon();
  });
  connect(m_model, &RunsModel::shownChanged, this, &RunsPage::soon);
  connect(m_model, &RunsModel::argumentsChanged, this, &RunsPage::soon);
  connect(m_model, &RunsModel::columnsChanged, this, [this] {
    if (!m_columnsSoon.isActive()) m_columnsSoon.start();
  });
  connect(context.theme, &Theme::changed, this, &RunsPage::setColumns);  // the size of text
  // Columns that come take their places at once, also while more of them come.
  for (const auto signal : {&QAbstractItemModel::columnsInserted, &QAbstractItemModel::columnsRemoved})
    connect(m_rows, signal, this, &RunsPage::setColumns);
  connect(m_rows, &QAbstractItemModel::layoutChanged, this, &RunsPage::soon);
  for (const auto signal : {&QAbstractItemModel::rowsRemoved, &QAbstractItemModel::rowsInserted})
    connect(m_rows, signal, this, &RunsPage::soon);
  connect(m_model, &RunsModel::edited, this, [this](const QString& id, RunsModel::Column column, const QString& text) {
    this->context().store->change(id, [&](RunRecord& run) {
      if (column == RunsModel::name)
        run.name = text;
      else if (column == RunsModel::note)
        run.note = text;
      else
        run.tags = tagsOf(text);
    });
    this->context().launcher->keep(id);
    setColumns();
  });
  connect(m_table, &DataTable::rowActivated, this, &RunsPage::openSelected);
  connect(m_table, &QWidget::customContextMenuRequested, this, &RunsPage::contextMenu);
  connect(m_table, &DataTable::swatchClicked, this, &RunsPage::chooseColour);
  connect(m_table, &DataTable::opened, this, [this](const QModelIndex& index, bool open) {
    m_rows->setOpen(index.data(RunRows::groupRole).toString(), open);
  });
  connect(m_rows, &RunRows::groupingChanged, this, [this] {
    setColumns();
    refreshGrouping();
    soon();
  });
  connectCharts();
  makeActions();
  tellExports(*m_charts, *this, "runs");
  m_model->setProject(context.document->path());
  setColumns();
  refreshGrouping();
  connect(context.document, &ProjectDocument::pathChanged, this,
          [this] { m_model->setProject(this->context().document->path()); });
}

RunsPage::~RunsPage() = default;

ParallelAxes& RunsPage::differing() const {
  return m_settings->parallel();
}

bool RunsPage::settled() const {
  return !m_soon.isActive() && !m_settingsSoon.isActive() && !m_columnsSoon.isActive() && !m_model->isLoading() &&
         !m_model->readsNetworks() && !m_settings->isWeighing();
}

// While many runs come in, all of them together are drawn anew some times a second, with a small part of its time.
void RunsPage::soon() {
  if (m_soon.isActive()) return;
  m_asked.start();
  m_soon.start(static_cast<int>(std::clamp<qint64>(kCostShare * m_soonCost, kSoonMs, kMostMs)));
}

// Rows follow each letter of the filter, the charts when the hand rests: nobody looks at those of half a word.
void RunsPage::whenTypingRests() {
  if (m_soon.isActive() && m_asked.elapsed() < kLongestTypingMs)
    m_soon.start(std::max(m_soon.remainingTime(), kTypingRestMs));
}

// In two steps, between which the window is its own again: the charts, then the settings of thousands of runs.
void RunsPage::refreshSoon() {
  QElapsedTimer clock;
  clock.start();
  setLines();
  setRange();
  m_charts->refresh();
  refreshWords();
  m_soonCost = clock.elapsed();
}

void RunsPage::refreshSettings() {
  QElapsedTimer clock;
  clock.start();
  m_settings->refresh(m_ofRuns);
  showPanels();
  m_soonCost += clock.elapsed();
}

void RunsPage::makeActions() {
  addCommand("runs.rename", tr("Rename the run"), "F2", [this] { edit(RunsModel::name); });
  addCommand("runs.hide-others", tr("Hide other runs"), "H", [this] { hideOthers(); });
  addCommand("runs.tags", tr("Tags of the run..."), "T", [this] { edit(RunsModel::tags); });
  addCommand("runs.note", tr("Note of the run..."), "N", [this] { edit(RunsModel::note); });
  addCommand("runs.filter", tr("Filter the runs"), "/; Ctrl+F",
             [this] { m_search->setFocus(Qt::ShortcutFocusReason); });
  addCommand("runs.group", tr("Group runs that differ by their seed"), "G",
             [this] { setGrouped(!m_rows->isGrouped()); });
  for (int i = 0; i < 9; ++i)
    addCommand(qPrintable(QStringLiteral("runs.view-%1").arg(i + 1)), tr("Open saved view %1").arg(i + 1),
               QStringLiteral("Ctrl+Shift+%1").arg(i + 1), [this, i] { openSavedView(i); });
  addCommand("runs.log-loss", tr("Logarithmic loss, or of the chart that has the keyboard"), "L", [this] {
    auto* const chart = qobject_cast<LineChart*>(QApplication::focusWidget());
    chart && m_charts->isAncestorOf(chart) ? chart->setLogarithmic(!chart->isLogarithmic()) : m_logLoss->toggle();
  });
  addCommand("runs.add-chart", tr("Add a chart..."), "Shift+A", [this] { addChart(); });
  const QString names[] = {tr("Steps on the x axis"), tr("Epochs on the x axis"), tr("Samples on the x axis"),
                           tr("Time on the x axis"), tr("Relative time on the x axis")};
  const char* units[] = {"runs.x-steps", "runs.x-epochs", "runs.x-samples", "runs.x-time", "runs.x-relative-time"};
  for (int i = 0; i < 5; ++i)
    addCommand(units[i], names[i], QString::number(i + 1), [this, i] { m_unit->setCurrent(i); });
  addCommand("runs.compare", tr("Compare the shown runs"), {}, [this] { compare(); });
  makeExportCommands();
  makeTableCommands();
}

bool RunsPage::isGroup(const QModelIndex& index) const {
  return index.data(RunRows::groupRole).isValid();
}

// Of a group's row all its runs.
QStringList RunsPage::selected() const {
  QStringList ids;
  for (const QModelIndex& index : m_table->selectionModel()->selectedRows()) ids << m_rows->runsOf(index.row());
  if (ids.isEmpty()) ids = m_rows->runsOf(m_table->currentIndex().row());
  ids.removeDuplicates();
  return ids;
}

QString RunsPage::chosenRun() const {
  const QModelIndexList rows = m_table->selectionModel()->selectedRows();  // the current row alone is no choice
  return rows.size() == 1 ? rows.first().data(RunsModel::idRole).toString() : QString();
}

QString RunsPage::chosenLine() const {
  const QModelIndexList rows = m_table->selectionModel()->selectedRows();
  if (rows.size() != 1) return {};
  const QVariant group = rows.first().data(RunRows::groupRole);
  return group.isValid() ? group.toString() : m_lineOf.value(chosenRun());
}

void RunsPage::activated() {
  m_soon.start(0);
  if (m_table->currentIndex().isValid() || m_rows->rowCount() == 0) return;
  m_table->setCurrentIndex(m_rows->index(0, RunsModel::name));
  m_table->clearSelection();
}

void RunsPage::choose(const QString& id) {
  m_rows->reveal(id);
  const QModelIndex index = m_rows->index(m_rows->rowOf(id), RunsModel::name);
  if (index.isValid()) m_table->setCurrentIndex(index);  // which scrolls to it
}

bool RunsPage::show(const Place& place) {
  if (!place.run.isEmpty() && m_model->rowOf(place.run) < 0) m_model->takeAll();
  // What one is led to is there, whatever was looked for before.
  if (m_model->rowOf(place.run) >= 0 && m_rows->rowOf(place.run) < 0) {
    m_rows->reveal(place.run);
    if (m_rows->rowOf(place.run) < 0) m_search->clear();
  }
  choose(place.run);
  return m_table->currentIndex().data(RunsModel::idRole).toString() == place.run && !place.run.isEmpty();
}

void RunsPage::setColumns() {
  std::vector<TableColumn> columns = m_model->columns();
  const bool grouped = m_rows->isGrouped();
  columns[RunsModel::name].title = m_rows->headerData(RunsModel::name, Qt::Horizontal, Qt::DisplayRole).toString();
  if (grouped) columns[RunsModel::best].width += kSpreadRoom;
  m_table->setColumns(std::move(columns));
  m_table->setFrozenColumns(RunsModel::name + 1);
  // Words of a person's own, and what is the same everywhere, take no room.
  for (const int column : {RunsModel::tags, RunsModel::note, RunsModel::network, RunsModel::parameters})
    m_table->setColumnHidden(column, !m_model->hasWords(column) && column != m_edited);
  for (const int column : {RunsModel::runs, RunsModel::seeds}) m_table->setColumnHidden(column, !grouped);
  // A group has many seeds: each run says its own beside its name.
  const QStringList keys = m_model->differing();
  for (int i = 0; i < keys.size(); ++i)
    m_table->setColumnHidden(RunsModel::fixedColumns + i, grouped && isSeedSetting(keys[i]));
}

QList<KeyHint> RunsPage::keyHints() const {
  return {{tr("Arrows"), tr("Go through the runs")}};
}

QWidget* RunsPage::keyboardHome() {
  return m_table;
}
QList<QWidget*> RunsPage::areas() const {
  QWidget* chart = m_board->charts().front().panel;
  for (const RunBoard::Chart& each : m_board->charts())
    if (each.panel->isVisible() && !chart->isVisible()) chart = each.panel;
  return {m_search, chart, m_table};
}

QJsonObject RunsPage::saveLayout() const {
  QJsonArray sizes;
  for (const int each : m_split->sizes()) sizes << each;
  return {{"split", sizes},
          {"unit", m_unit->current()},
          {"look", m_settings->look()},
          {"chart", m_which->currentIndex()},
          {"smoothing_weight", m_smoothing->weight()},
          {"log_x", m_logX->isChecked()},
          {"hidden", QJsonArray::fromStringList(m_model->hidden())},
          {"view", currentView()},
          {"open", QJsonArray::fromStringList(m_rows->open())},
          {"saved", m_saved}};
}

void RunsPage::restoreLayout(const QJsonObject& layout) {
  const QJsonArray sizes = layout["split"].toArray();
  m_split->setSizes(sizes.size() == 2 ? QList<int>{sizes[0].toInt(), sizes[1].toInt()} : QList<int>{372, 420});
  m_unit->setCurrent(std::clamp(layout["unit"].toInt(0), 0, 4));
  m_settings->setLook(layout["look"].toInt(0));
  m_smoothing->setWeight(layout["smoothing_weight"].toDouble(kUsualSmoothing));
  m_logX->setChecked(layout["log_x"].toBool(false));
  QStringList hidden;
  for (const auto& each : layout["hidden"].toArray()) hidden << each.toString();
  m_model->setHidden(hidden);
  QStringList open;
  for (const auto& each : layout["open"].toArray()) open << each.toString();
  m_rows->setOpenGroups(open);
  m_saved = layout["saved"].toArray();
  QJsonObject view = layout["view"].toObject();
  view.remove("brushes");
  view.remove("filter");  // nobody looks for runs that a word of last week hides
  openView(view);
  m_which->setCurrentIndex(std::clamp(layout["chart"].toInt(0), 0, m_which->count() - 1));
  showPanels();
  refreshViews();
}

void RunsPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  showPanels();
}

void RunsPage::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), context().theme->colour(Colour::surface));
}

}  // namespace loom
