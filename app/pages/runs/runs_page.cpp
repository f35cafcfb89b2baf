#include "app/pages/runs/runs_page.h"

#include <QAction>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QJsonArray>
#include <QLabel>
#include <QPainter>
#include <QSlider>
#include <QStackedWidget>
#include <cmath>

#include "app/pages/runs/runs_model.h"
#include "app/run_display.h"
#include "app/store_series.h"
#include "app/workspace.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/controls/button.h"
#include "widgets/controls/empty_state.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/splitter.h"
#include "widgets/controls/switch.h"
#include "widgets/table/data_table.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

// Beside the name of a line at its end: sign, gaps and a value such as "100.00 %".
constexpr int kEndSignAndValue = 100, kNarrowestEnds = 118, kWidestEnds = 260;
constexpr int kSoonMs = 100, kNarrow = 1000;

QFrame* hairline() {
  auto* line = new QFrame;
  line->setProperty("kind", "hairline");
  return line;
}

}  // namespace

RunsPage::RunsPage(AppContext& context, QWidget* parent) : Page(context, parent) {
  m_model = new RunsModel(*context.store, this);
  m_filter = new RunsFilter(*m_model, this);
  m_table = new DataTable;
  m_table->setObjectName("runs-table");
  m_table->setAccessibleName(tr("Runs"));
  m_table->setSortingEnabled(true);
  m_table->setSelectionMode(QAbstractItemView::ExtendedSelection);
  m_table->setContextMenuPolicy(Qt::CustomContextMenu);
  m_table->setModel(m_filter);
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
  m_soon.setInterval(kSoonMs);
  connect(&m_soon, &QTimer::timeout, this, [this] {
    setLines();
    setRange();
    m_charts->refresh();
    refreshWords();
  });
  const auto soon = [this] { if (!m_soon.isActive()) m_soon.start(); };
  connect(context.store, &RunStore::pointsAdded, this, [this, soon](const QString& id) { if (m_drawn.contains(id)) soon(); });
  connect(m_model, &RunsModel::shownChanged, this, soon);
  connect(m_model, &QAbstractItemModel::modelReset, this, [this, soon] {
    setColumns();
    soon();
  });
  connect(m_filter, &QAbstractItemModel::layoutChanged, this, soon);
  connect(m_filter, &QAbstractItemModel::rowsRemoved, this, soon);
  connect(m_filter, &QAbstractItemModel::rowsInserted, this, soon);
  connect(m_model, &RunsModel::renamed, this, [this](const QString& id, const QString& name) {
    this->context().store->change(id, [&](RunRecord& run) { run.name = name; });
    this->context().launcher->keep(id);
  });
  connect(m_table, &DataTable::rowActivated, this, &RunsPage::openSelected);
  connect(m_table, &DataTable::deleteRequested, this, &RunsPage::deleteSelected);
  connect(m_table, &DataTable::filterRequested, this, [this] { m_search->setFocus(Qt::ShortcutFocusReason); });
  connect(m_table, &QWidget::customContextMenuRequested, this, &RunsPage::contextMenu);
  connect(m_table, &DataTable::swatchClicked, this, &RunsPage::chooseColour);
  connect(m_table, &DataTable::rowHovered, this, [this](int row) {
    m_charts->setHighlighted(row < 0 ? QString() : m_filter->index(row, 0).data(RunsModel::idRole).toString());
  });
  connect(m_charts, &ChartStack::lineHovered, this, [this](const QString& id) {
    const int row = m_model->rowOf(id);
    m_table->setHoveredRow(row < 0 ? -1 : m_filter->mapFromSource(m_model->index(row, 0)).row());
  });
  connect(m_charts, &ChartStack::lineClicked, this, [this](const QString& id) {
    Place place;
    place.run = id;
    show(place);
  });
  connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
    const QModelIndexList rows = m_table->selectionModel()->selectedRows();  // the current row alone is no choice
    m_charts->setHighlighted(rows.size() == 1 ? rows.first().data(RunsModel::idRole).toString() : QString());
  });
  makeActions();
  m_model->setProject(context.document->path());
  setColumns();
  connect(context.document, &ProjectDocument::pathChanged, this, [this] { m_model->setProject(this->context().document->path()); });
}

RunsPage::~RunsPage() = default;

void RunsPage::makeActions() {
  const auto add = [this](const QString& text, const char* key, const std::function<void()>& act) {
    auto* action = new QAction(text, this);
    if (*key) action->setShortcut(QKeySequence(QString::fromLatin1(key)));
    connect(action, &QAction::triggered, this, act);
    m_actions << action;
  };
  add(tr("Rename the run"), "F2", [this] { rename(); });
  add(tr("Hide other runs"), "H", [this] { hideOthers(); });
  add(tr("Tags of the run..."), "T", [this] { editText(true); });
  add(tr("Note of the run..."), "N", [this] { editText(false); });
  add(tr("Filter the runs"), "/", [this] { m_search->setFocus(Qt::ShortcutFocusReason); });
  add(tr("Logarithmic loss"), "L", [this] { m_logLoss->toggle(); });
  const QString names[] = {tr("Steps on the x axis"), tr("Epochs on the x axis"), tr("Samples on the x axis"), tr("Time on the x axis"), tr("Relative time on the x axis")};
  const char* keys[] = {"1", "2", "3", "4", "5"};
  for (int i = 0; i < 5; ++i) add(names[i], keys[i], [this, i] { m_unit->setCurrent(i); });
  add(tr("Compare the shown runs"), "", [this] { compare(); });
}

QStringList RunsPage::selected() const {
  QStringList ids;
  for (const QModelIndex& index : m_table->selectionModel()->selectedRows()) ids << index.data(RunsModel::idRole).toString();
  if (ids.isEmpty() && m_table->currentIndex().isValid()) ids << m_table->currentIndex().data(RunsModel::idRole).toString();
  return ids;
}

QStringList RunsPage::shown() const {
  QStringList ids;
  for (int row = 0; row < m_filter->rowCount(); ++row) {
    const QString id = m_filter->index(row, 0).data(RunsModel::idRole).toString();
    if (m_model->isShown(id)) ids << id;
  }
  return ids;
}

void RunsPage::setLines() {
  const QStringList ids = shown();
  // Lines are made anew when other runs are drawn or a run has its first points; new points alone only need a redraw.
  QStringList key;
  for (const QString& id : ids) key << id;
  const QString metric = m_model->metric();
  const std::string validation = "validation." + metric.toStdString();
  std::vector<ChartLine> metrics, losses;
  bool anyValidation = false;
  for (const QString& id : ids) {
    const RunRecord* const run = context().store->find(id);
    if (!run) continue;
    const std::vector<std::string> names = context().store->seriesNames(id);
    const auto has = [&](const std::string& name) { return std::find(names.begin(), names.end(), name) != names.end(); };
    const ValueKind kind = kindOfMetric(metric);
    const std::string compared = has(validation) ? validation : "epoch." + metric.toStdString();
    anyValidation = anyValidation || has(validation);
    if (!metric.isEmpty() && has(compared))
      metrics.push_back({.id = id, .name = run->name, .kind = LineKind::plain, .colour = run->colour,
                         .source = std::make_shared<StoreSeries>(*context().store, id, compared), .value = kind});
    if (has(series::kLoss))
      losses.push_back({.id = id, .name = run->name, .colour = run->colour,
                        .source = std::make_shared<StoreSeries>(*context().store, id, series::kLoss), .value = ValueKind::loss});
  }
  m_drawn = key;
  const bool fraction = kindOfMetric(metric) == ValueKind::accuracy;
  const QString title = metric.isEmpty() ? tr("accuracy") : titleOfMetric(metric).toLower();
  m_metric->setTitle(anyValidation || metric.isEmpty() ? tr("Validation %1").arg(title) : tr("Training %1").arg(title), fraction ? "%" : QString());
  m_metric->setValueKind(kindOfMetric(metric));
  m_metric->setBetter(higherIsBetter(metric) ? Better::higher : Better::lower);
  // Names stand whole at the ends of their lines as far as the chart can spare the room.
  const QFontMetrics text(Theme::withWeight(Theme::of(this).font(FontRole::axis), 600));
  int widest = 0;
  for (const ChartLine& line : metrics) widest = std::max(widest, text.horizontalAdvance(line.name));
  PanelMargins margins = m_metric->margins();
  margins.right = std::clamp(widest + kEndSignAndValue, kNarrowestEnds, kWidestEnds);
  m_metric->setMargins(margins);
  m_metric->setLines(std::move(metrics));
  m_loss->setLines(std::move(losses));
}

void RunsPage::setRange() {
  const Axis unit = toAxis(m_charts->axis()->unit());
  double from = unit == Axis::time ? 1e300 : 0, to = -1e300;
  for (const QString& id : std::as_const(m_drawn)) {
    const auto extent = StoreSeries(*context().store, id, series::kLoss).extent(m_charts->axis()->unit());
    if (!extent) continue;
    from = std::min(from, extent->first);
    to = std::max(to, extent->second);
  }
  m_charts->axis()->setFull(to > from ? Interval{from, to} : Interval{0, 1});
}

void RunsPage::refreshWords() {
  const int all = m_model->rowCount(), left = m_filter->rowCount();
  m_count->setText(QString::number(all));
  m_search->setCount(left == all ? QString() : tr("%1 of %2").arg(left).arg(all));
  m_views->setCurrentIndex(all || !m_search->text().isEmpty() ? 0 : 1);
  const qsizetype shownRuns = shown().size();
  m_compare->setText(shownRuns == 1 ? tr("Compare 1 run") : tr("Compare %1 runs").arg(shownRuns));
  m_compare->setEnabled(shownRuns >= 2);
  const std::int64_t points = m_metric->shownPoints() + m_loss->shownPoints();
  const QString runs = shownRuns == 1 ? tr("1 run shown") : tr("%1 runs shown").arg(shownRuns);
  Q_EMIT statusChanged(shownRuns ? tr("%1, %2 points, 0 dropped").arg(runs, formatCount(static_cast<double>(points))) : QString());
}

void RunsPage::activated() {
  m_soon.start(0);
  if (m_table->currentIndex().isValid() || m_filter->rowCount() == 0) return;
  m_table->setCurrentIndex(m_filter->index(0, RunsModel::name));
  m_table->clearSelection();
}

bool RunsPage::show(const Place& place) {
  const int row = m_model->rowOf(place.run);
  if (row < 0) return false;
  const QModelIndex index = m_filter->mapFromSource(m_model->index(row, RunsModel::name));
  m_table->setCurrentIndex(index);
  // setCurrentIndex scrolls to it.
  return index.isValid();
}

void RunsPage::setColumns() {
  m_table->setColumns(m_model->columns());
  m_table->setFrozenColumns(RunsModel::name + 1);
}

QWidget* RunsPage::keyboardHome() { return m_table; }
QList<QWidget*> RunsPage::areas() const { return {m_search, m_metric, m_table}; }

QJsonObject RunsPage::saveLayout() const {
  QJsonArray sizes;
  for (const int each : m_split->sizes()) sizes << each;
  return {{"split", sizes}, {"unit", m_unit->current()}, {"smoothing", m_smoothing->value()}, {"log_x", m_logX->isChecked()},
          {"log_loss", m_logLoss->isChecked()}, {"hidden", QJsonArray::fromStringList(m_model->hidden())},
          {"sort", m_table->horizontalHeader()->sortIndicatorSection()}, {"ascending", m_table->horizontalHeader()->sortIndicatorOrder() == Qt::AscendingOrder}};
}

void RunsPage::restoreLayout(const QJsonObject& layout) {
  const QJsonArray sizes = layout["split"].toArray();
  m_split->setSizes(sizes.size() == 2 ? QList<int>{sizes[0].toInt(), sizes[1].toInt()} : QList<int>{372, 420});
  m_unit->setCurrent(std::clamp(layout["unit"].toInt(0), 0, 4));
  m_smoothing->setValue(layout["smoothing"].toInt(20));
  m_logX->setChecked(layout["log_x"].toBool(false));
  m_logLoss->setChecked(layout["log_loss"].toBool(false));
  QStringList hidden;
  for (const auto& each : layout["hidden"].toArray()) hidden << each.toString();
  m_model->setHidden(hidden);
  m_table->sortByColumn(layout["sort"].toInt(-1), layout["ascending"].toBool(false) ? Qt::AscendingOrder : Qt::DescendingOrder);
}

void RunsPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  // One chart in a narrow window; the other is a click on its title's menu away.
  m_loss->setVisible(width() >= kNarrow);
}

void RunsPage::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), context().theme->colour(Colour::surface));
}

}  // namespace loom
