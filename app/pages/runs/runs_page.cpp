#include "app/pages/runs/runs_page.h"

#include <QAction>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QJsonArray>
#include <QLabel>
#include <QPainter>
#include <QStackedWidget>
#include <cmath>

#include "app/exports.h"
#include "app/pages/runs/runs_model.h"
#include "app/run_display.h"
#include "app/run_metrics.h"
#include "app/run_settings.h"
#include "app/smoothing_slider.h"
#include "app/store_series.h"
#include "app/workspace.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/chart/parallel_axes.h"
#include "widgets/controls/button.h"
#include "widgets/controls/empty_state.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/splitter.h"
#include "widgets/controls/switch.h"
#include "widgets/controls/text.h"
#include "widgets/table/data_table.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

// Beside the name of a line at its end: sign, gaps and a value such as "100.00 %".
constexpr int kEndSignAndValue = 100, kNarrowestEnds = 118, kWidestEnds = 260, kBareEnds = 16;
constexpr int kSoonMs = 100, kNarrow = 1000, kWide = 1200;
constexpr int kMostAxes = 4;  // of settings, beside the result

QStringList tagsOf(const QString& text) {
  QStringList tags;
  for (const QString& each : text.split(',', Qt::SkipEmptyParts))
    if (const QString tag = each.trimmed(); !tag.isEmpty() && !tags.contains(tag)) tags << tag;
  return tags;
}

}  // namespace

RunsPage::RunsPage(AppContext& context, QWidget* parent) : Page(context, parent) {
  m_model = new RunsModel(*context.store, *context.runMetrics, this);
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
  connect(context.store, &RunStore::pointsAdded, this, [this](const QString& id) {
    if (m_drawn.contains(id)) soon();
  });
  connect(m_model, &RunsModel::shownChanged, this, &RunsPage::soon);
  connect(m_model, &QAbstractItemModel::modelReset, this, [this] {
    setColumns();
    soon();
  });
  connect(m_filter, &QAbstractItemModel::layoutChanged, this, &RunsPage::soon);
  connect(m_filter, &QAbstractItemModel::rowsRemoved, this, &RunsPage::soon);
  connect(m_filter, &QAbstractItemModel::rowsInserted, this, &RunsPage::soon);
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
  connect(m_table, &DataTable::rowHovered, this, [this](int row) {
    highlight(row < 0 ? chosenRun() : m_filter->index(row, 0).data(RunsModel::idRole).toString());
  });
  const auto choose = [this](const QString& id) {
    Place place;
    place.run = id;
    show(place);
  };
  connect(m_charts, &ChartStack::lineHovered, this, &RunsPage::hover);
  connect(m_charts, &ChartStack::lineClicked, this, choose);
  connect(m_differing, &ParallelAxes::lineHovered, this, [this](const QString& id) {
    hover(id);
    highlight(id.isEmpty() ? chosenRun() : id);
  });
  connect(m_differing, &ParallelAxes::lineClicked, this, choose);
  connect(m_table->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] { highlight(chosenRun()); });
  makeActions();
  tellExports(*m_charts, *this, "runs");
  m_model->setProject(context.document->path());
  setColumns();
  connect(context.document, &ProjectDocument::pathChanged, this,
          [this] { m_model->setProject(this->context().document->path()); });
}

RunsPage::~RunsPage() = default;

void RunsPage::soon() {
  if (!m_soon.isActive()) m_soon.start();
}

void RunsPage::makeActions() {
  addCommand("runs.rename", tr("Rename the run"), "F2", [this] { edit(RunsModel::name); });
  addCommand("runs.hide-others", tr("Hide other runs"), "H", [this] { hideOthers(); });
  addCommand("runs.tags", tr("Tags of the run..."), "T", [this] { edit(RunsModel::tags); });
  addCommand("runs.note", tr("Note of the run..."), "N", [this] { edit(RunsModel::note); });
  addCommand("runs.filter", tr("Filter the runs"), "/; Ctrl+F",
             [this] { m_search->setFocus(Qt::ShortcutFocusReason); });
  addCommand("runs.log-loss", tr("Logarithmic loss"), "L", [this] { m_logLoss->toggle(); });
  const QString names[] = {tr("Steps on the x axis"), tr("Epochs on the x axis"), tr("Samples on the x axis"),
                           tr("Time on the x axis"), tr("Relative time on the x axis")};
  const char* units[] = {"runs.x-steps", "runs.x-epochs", "runs.x-samples", "runs.x-time", "runs.x-relative-time"};
  for (int i = 0; i < 5; ++i)
    addCommand(units[i], names[i], QString::number(i + 1), [this, i] { m_unit->setCurrent(i); });
  addCommand("runs.compare", tr("Compare the shown runs"), {}, [this] { compare(); });
  makeTableCommands();
}

QStringList RunsPage::selected() const {
  QStringList ids;
  for (const QModelIndex& index : m_table->selectionModel()->selectedRows())
    ids << index.data(RunsModel::idRole).toString();
  if (ids.isEmpty() && m_table->currentIndex().isValid())
    ids << m_table->currentIndex().data(RunsModel::idRole).toString();
  return ids;
}

QString RunsPage::chosenRun() const {
  const QModelIndexList rows = m_table->selectionModel()->selectedRows();  // the current row alone is no choice
  return rows.size() == 1 ? rows.first().data(RunsModel::idRole).toString() : QString();
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
  const QString metric = m_model->metric();
  const std::string validation = "validation." + metric.toStdString();
  std::vector<ChartLine> metrics, losses;
  // Of all runs, not of those that the filter leaves: the title stays while one types.
  bool anyValidation = false;
  for (int row = 0; row < m_model->rowCount(); ++row)
    anyValidation = anyValidation || (m_model->run(row).metric == metric && m_model->run(row).metricOfValidation);
  // A source that was drawn before has its answer: a curve that is read again would vanish for a moment.
  decltype(m_sources) sources;
  const auto source = [&](const QString& id, const std::string& name) {
    std::shared_ptr<StoreSeries>& kept = sources[{id, name}];
    if (const auto known = m_sources.find({id, name}); !kept && known != m_sources.end()) kept = known->second;
    if (!kept) kept = std::make_shared<StoreSeries>(*context().store, id, name);
    return kept;
  };
  decltype(m_outlines) outlines;
  for (const QString& id : ids) {
    const RunRecord* const run = context().store->find(id);
    if (!run) continue;
    auto& question = outlines[id];
    if (const auto known = m_outlines.find(id); known != m_outlines.end()) question = std::move(known->second);
    if (!question) question = outlineQuestion(*context().store, id, [this] { soon(); });
    const RunOutline* const outline = question->ask({m_charts->axis()->unit(), {}});
    if (!outline) continue;  // it is being read
    const auto has = [&](const std::string& name) { return outline->has(name); };
    const ValueKind kind = context().runMetrics->kind(*run, metric);
    const std::string compared = has(validation) ? validation : "epoch." + metric.toStdString();
    if (!metric.isEmpty() && has(compared))
      metrics.push_back({.id = id,
                         .name = run->name,
                         .kind = LineKind::plain,
                         .colour = run->colour,
                         .source = source(id, compared),
                         .value = kind});
    if (has(series::kLoss))
      losses.push_back({.id = id,
                        .name = run->name,
                        .colour = run->colour,
                        .source = source(id, series::kLoss),
                        .value = ValueKind::loss});
  }
  m_drawn = ids;
  m_outlines = std::move(outlines);
  m_sources = std::move(sources);
  const ValueKind kind = m_model->metricKind();
  const QString title = metric.isEmpty() ? tr("accuracy") : titleOfMetric(metric).toLower();
  m_metric->setTitle(anyValidation || metric.isEmpty() ? tr("Validation %1").arg(title) : tr("Training %1").arg(title),
                     kind == ValueKind::accuracy ? "%" : QString());
  m_metric->setValueKind(kind);
  m_metric->setBetter(m_model->metricBetter());
  // Names stand whole at the ends of their lines as far as the chart can spare the room.
  const QFontMetrics text(Theme::withWeight(Theme::of(this).font(FontRole::axis), 600));
  int widest = 0;
  for (const ChartLine& line : metrics) widest = std::max(widest, text.horizontalAdvance(line.name));
  PanelMargins margins = m_metric->margins();
  margins.right = std::clamp(widest + kEndSignAndValue, kNarrowestEnds, kWidestEnds);
  m_metric->setMargins(margins);
  m_metric->setLines(std::move(metrics));
  m_loss->setLines(std::move(losses));
  setDiffering();
  // A run that is drawn no more would leave all others faint.
  if (!ids.contains(m_metric->highlighted())) highlight(chosenRun());
}

void RunsPage::highlight(const QString& id) {
  const QString drawn = m_drawn.contains(id) ? id : QString();
  m_charts->setHighlighted(drawn);
  m_differing->setHighlighted(drawn);
}

void RunsPage::hover(const QString& id) {
  const int row = m_model->rowOf(id);
  m_table->setHoveredRow(row < 0 ? -1 : m_filter->mapFromSource(m_model->index(row, 0)).row());
}

// The first settings in which the shown runs differ, and the best that each reached.
void RunsPage::setDiffering() {
  QList<RunRecord> runs;
  for (const QString& id : std::as_const(m_drawn)) {
    const int row = m_model->rowOf(id);
    if (row >= 0 && !m_model->run(row).settings.empty()) runs << m_model->run(row);
  }
  const auto valueOf = [](const RunRecord& run, const QString& key) {
    const auto found = run.settings.find(key.toStdString());
    return found == run.settings.end() ? Json() : *found;
  };
  QStringList keys;
  for (const QString& key : m_model->differing())
    if (keys.size() < kMostAxes && std::any_of(runs.begin(), runs.end(), [&](const RunRecord& run) {
          return valueOf(run, key) != valueOf(runs.front(), key);
        }))
      keys << key;
  std::vector<QString> axes;
  std::vector<ParallelLine> lines;
  if (runs.size() > 1 && !keys.isEmpty()) {
    for (const QString& key : std::as_const(keys)) axes.push_back(labelOfSetting(key));
    axes.push_back(m_model->metricKind() == ValueKind::accuracy ? tr("Best %") : tr("Best"));
    for (const RunRecord& run : std::as_const(runs)) {
      ParallelLine line{.id = run.id, .colour = run.colour, .values = {}};
      for (const QString& key : std::as_const(keys)) {
        const Json value = valueOf(run, key);
        line.values.push_back(
            {textOfSetting(key, value), value.is_number() ? std::optional<double>(value.get<double>()) : std::nullopt});
      }
      const bool measured = run.bestStep >= 0;
      line.values.push_back({measured                                   ? context().runMetrics->number(run, run.best)
                             : run.step > 0 && !std::isfinite(run.loss) ? tr("NaN")
                                                                        : QStringLiteral("–"),
                             measured ? std::optional<double>(run.best) : std::nullopt});
      lines.push_back(std::move(line));
    }
  }
  m_differing->setContent(std::move(axes), std::move(lines));
  showPanels();
}

void RunsPage::showPanels() {
  // One chart in a narrow window, and which; the third where there is room for all.
  const bool narrow = width() < kNarrow;
  m_which->setVisible(narrow);
  m_badge->setVisible(!narrow);  // the status strip tells of points too
  m_metric->setVisible(!narrow || m_which->current() == 0);
  m_loss->setVisible(!narrow || m_which->current() == 1);
  // Beside the other chart its lines take all the room: the names stand there.
  m_loss->setLineEnds(narrow ? LineEnds::oneLine : LineEnds::none);
  PanelMargins margins = m_loss->margins();
  margins.right = narrow ? m_metric->margins().right : kBareEnds;
  m_loss->setMargins(margins);
  m_differing->setVisible(width() >= kWide && !m_differing->lines().empty());
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
  const int all = m_model->rowCount(), left = m_filter->rowCount();
  m_count->setText(QString::number(all));
  m_search->setCount(left == all ? QString() : tr("%1 of %2").arg(left).arg(all));
  m_views->setCurrentIndex(all || !m_search->text().isEmpty() ? 0 : 1);
  const qsizetype shownRuns = shown().size();
  m_metric->setEmptyText(all && !left    ? tr("No run matches the filter")
                         : shownRuns > 0 ? tr("Nothing was measured yet in what is ticked")
                                         : tr("Tick runs in the table to draw them here"));
  m_compare->setText(tr("Compare %1").arg(counted(shownRuns, tr("runs"))));
  m_compare->setEnabled(shownRuns >= 2);
  const QString runs = tr("%1 shown").arg(counted(shownRuns, tr("runs")));
  // Points as they were last drawn: lines that are set anew have none until then.
  Q_EMIT statusChanged(shownRuns == 0  ? QString()
                       : m_points == 0 ? runs
                                       : tr("%1, %2 %3, 0 dropped")
                                             .arg(runs, formatCount(static_cast<double>(m_points)),
                                                  m_points == 1 ? tr("point") : tr("points")));
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
  // Words of a person's own take room only where there are any.
  for (const int column : {RunsModel::tags, RunsModel::note})
    m_table->setColumnHidden(column, !m_model->hasWords(column) && column != m_edited);
}

QList<KeyHint> RunsPage::keyHints() const {
  return {{tr("Arrows"), tr("Go through the runs")}};
}

QWidget* RunsPage::keyboardHome() {
  return m_table;
}
QList<QWidget*> RunsPage::areas() const {
  return {m_search, m_metric->isVisible() ? m_metric : m_loss, m_table};
}

QJsonObject RunsPage::saveLayout() const {
  QJsonArray sizes;
  for (const int each : m_split->sizes()) sizes << each;
  return {{"split", sizes},
          {"unit", m_unit->current()},
          {"chart", m_which->current()},
          {"smoothing_weight", m_smoothing->weight()},
          {"log_x", m_logX->isChecked()},
          {"log_loss", m_logLoss->isChecked()},
          {"hidden", QJsonArray::fromStringList(m_model->hidden())},
          {"sort", m_table->horizontalHeader()->sortIndicatorSection()},
          {"ascending", m_table->horizontalHeader()->sortIndicatorOrder() == Qt::AscendingOrder}};
}

void RunsPage::restoreLayout(const QJsonObject& layout) {
  const QJsonArray sizes = layout["split"].toArray();
  m_split->setSizes(sizes.size() == 2 ? QList<int>{sizes[0].toInt(), sizes[1].toInt()} : QList<int>{372, 420});
  m_unit->setCurrent(std::clamp(layout["unit"].toInt(0), 0, 4));
  m_which->setCurrent(std::clamp(layout["chart"].toInt(0), 0, 1));
  m_smoothing->setWeight(layout["smoothing_weight"].toDouble(kUsualSmoothing));
  m_logX->setChecked(layout["log_x"].toBool(false));
  m_logLoss->setChecked(layout["log_loss"].toBool(false));
  QStringList hidden;
  for (const auto& each : layout["hidden"].toArray()) hidden << each.toString();
  m_model->setHidden(hidden);
  m_table->sortByColumn(layout["sort"].toInt(-1),
                        layout["ascending"].toBool(false) ? Qt::AscendingOrder : Qt::DescendingOrder);
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
