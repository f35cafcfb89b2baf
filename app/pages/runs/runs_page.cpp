#include "app/pages/runs/runs_page.h"

#include <QAction>
#include <QDesktopServices>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QJsonArray>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QSlider>
#include <QStackedWidget>
#include <cmath>

#include "app/pages/runs/compare_card.h"
#include "app/pages/runs/runs_model.h"
#include "app/run_display.h"
#include "app/store_series.h"
#include "app/workspace.h"
#include "engine/base/error.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/controls/button.h"
#include "widgets/controls/empty_state.h"
#include "widgets/controls/popover.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/splitter.h"
#include "widgets/controls/switch.h"
#include "widgets/table/data_table.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

// Beside the name of a line at its end: sign, gaps and a value such as "100.00 %".
constexpr int kEndSignAndValue = 100, kNarrowestEnds = 118, kWidestEnds = 260;
constexpr int kSoonMs = 100, kNarrow = 1000;
constexpr XUnit kUnits[] = {XUnit::step, XUnit::epoch, XUnit::samples, XUnit::time, XUnit::relative};
double weightOf(int slider) { return slider == 0 ? 0 : std::min(0.99, 1 - std::pow(10, -slider / 50.0)); }

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

QWidget* RunsPage::makeBar() {
  auto* bar = new QWidget;
  bar->setFixedHeight(context().theme->size(Size::pageBar));
  auto* row = new QHBoxLayout(bar);
  row->setContentsMargins(20, 0, 20, 0);
  row->setSpacing(12);
  auto* title = new QLabel(tr("Runs"));
  title->setProperty("kind", "title");
  m_count = new QLabel;
  m_count->setProperty("kind", "hint");
  m_search = new SearchField(tr("Words, or optimizer == \"LARS\" and epochs > 100"), "/");
  m_search->setIconName("filter");
  m_search->setObjectName("runs-filter");
  m_search->setAccessibleName(tr("Filter of the runs"));
  m_search->setMinimumWidth(220);
  m_search->setMaximumWidth(400);
  auto* folder = new Button("import", tr("Open run folder"), ButtonKind::outlined);
  connect(folder, &Button::clicked, this, &RunsPage::openFolder);
  m_compare = new Button("compare", tr("Compare"), ButtonKind::tinted);
  m_compare->setObjectName("compare");
  connect(m_compare, &Button::clicked, this, &RunsPage::compare);
  row->addWidget(title);
  row->addWidget(m_count);
  row->addWidget(m_search, 1);
  row->addStretch();
  row->addWidget(folder);
  row->addWidget(m_compare);
  connect(m_search, &QLineEdit::textChanged, this, [this](const QString& text) {
    const QString fault = m_filter->setExpression(text);
    setStyleProperty(m_search, "problem", fault.isEmpty() ? QVariant() : QVariant("error"));
    m_search->setToolTip(fault);
    refreshWords();
  });
  connect(m_search, &SearchField::escaped, this, [this] { m_table->setFocus(); });
  return bar;
}

QWidget* RunsPage::makeCharts() {
  auto* part = new QWidget;
  auto* column = new QVBoxLayout(part);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* row = new QHBoxLayout;
  row->setContentsMargins(20, 10, 20, 6);
  row->setSpacing(14);
  m_unit = new SegmentedControl({tr("Step"), tr("Epoch"), tr("Samples"), tr("Time"), tr("Relative")});
  m_unit->setObjectName("runs-x-axis");
  m_unit->setAccessibleName(tr("What the x axis counts"));
  m_smoothingText = new QLabel;
  m_smoothingText->setProperty("kind", "label");
  m_smoothing = new QSlider(Qt::Horizontal);
  m_smoothing->setRange(0, 100);
  m_smoothing->setFixedWidth(90);
  m_smoothing->setAccessibleName(tr("Smoothing"));
  m_logX = new Switch(tr("Log x"));
  m_logLoss = new Switch(tr("Log loss"));
  m_logLoss->setObjectName("log-loss");
  m_badge = new QLabel;
  m_badge->setProperty("kind", "hint");
  m_badge->setObjectName("every-point");
  for (QWidget* each : std::initializer_list<QWidget*>{m_unit, m_smoothingText, m_smoothing, m_logX, m_logLoss, m_badge}) row->addWidget(each);
  row->addStretch();
  column->addLayout(row);
  m_charts = new ChartStack(Qt::Horizontal);
  m_metric = m_charts->addPanel(tr("Validation accuracy"), "%", 3);
  m_loss = m_charts->addPanel(tr("Training loss"), {}, 2);
  m_metric->setLineEnds(LineEnds::oneLine);
  m_loss->setLineEnds(LineEnds::none);
  PanelMargins bare = m_loss->margins();
  bare.right = 16;  // no words at the ends: the lines take the room
  m_loss->setMargins(bare);
  m_metric->setEmptyText(tr("Tick runs in the table to draw them here"));
  auto* box = new QVBoxLayout;
  box->setContentsMargins(12, 0, 12, 4);
  box->addWidget(m_charts);
  column->addLayout(box, 1);
  connect(m_unit, &SegmentedControl::currentChanged, this, [this](int index) {
    m_charts->axis()->setUnit(kUnits[index]);
    setRange();
    m_charts->refresh();
  });
  connect(m_smoothing, &QSlider::valueChanged, this, [this](int value) {
    m_smoothingText->setText(tr("Smoothing %1").arg(weightOf(value), 0, 'f', 2));
    m_charts->setSmoothing(weightOf(value));
  });
  connect(m_logX, &Switch::toggled, this, [this](bool on) { m_charts->axis()->setLogarithmic(on); });
  connect(m_logLoss, &Switch::toggled, this, [this](bool on) {
    m_loss->setLogarithmic(on);
    m_loss->setTitle(tr("Training loss"), on ? tr("log") : QString());
  });
  m_smoothing->setValue(20);
  m_charts->setCaption([this](double x) -> ChartStack::Caption {
    const QString names[] = {tr("Step"), tr("Epoch"), tr("Samples"), tr("Time"), tr("After")};
    const int unit = m_unit->current();
    const QString value = unit == 0 || unit == 2 ? formatCount(x) : unit == 1 ? QString::number(x, 'f', 1) : unit == 3 ? formatMoment(x) : formatDuration(x);
    return {names[unit] + ' ' + value, {}};
  });
  for (const LineChart* panel : {m_metric, m_loss}) connect(panel, &LineChart::drawn, this, [this] {
    const std::int64_t points = m_metric->shownPoints() + m_loss->shownPoints();
    const bool every = m_metric->everyPointShown() && m_loss->everyPointShown();
    m_badge->setText(!points ? QString() : every ? tr("Every point shown") : tr("%1 points folded into %2 columns, minimum and maximum kept")
                         .arg(formatCount(static_cast<double>(points)), formatCount(static_cast<double>(m_metric->shownColumns() + m_loss->shownColumns()))));
    refreshWords();
  });
  return part;
}

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

void RunsPage::chooseColour(const QModelIndex& index) {
  const QString id = index.data(RunsModel::idRole).toString();
  QMenu menu;
  for (int i = 0; i < 10; ++i) {
    QPixmap swatch(16, 12);
    swatch.fill(context().theme->curveColour(i));
    menu.addAction(QIcon(swatch), tr("Colour %1").arg(i + 1))->setData(i);
  }
  if (const QAction* chosen = menu.exec(QCursor::pos())) {
    context().store->change(id, [&](RunRecord& run) { run.colour = chosen->data().toInt(); });
    setLines();
    m_charts->refresh();
  }
}

// The name stands in the part of the table that stays.
void RunsPage::rename() {
  if (!m_table->currentIndex().isValid()) return;
  QTableView* const part = m_table->frozenPart() && m_table->frozenPart()->isVisible() ? m_table->frozenPart() : m_table;
  part->edit(m_table->currentIndex().siblingAtColumn(RunsModel::name));
}

void RunsPage::openSelected() {
  if (selected().isEmpty()) return;
  Place place;
  place.page = "training";
  place.run = selected().first();
  context().go(place);
}

void RunsPage::toggleSelected() {
  const QStringList ids = selected();
  if (ids.isEmpty()) return;
  const bool show = !m_model->isShown(ids.first());
  for (const QString& id : ids) m_model->setShown(id, show);
}

void RunsPage::hideOthers() {
  const QStringList keep = selected();
  QStringList hidden;
  for (int row = 0; row < m_model->rowCount(); ++row)
    if (!keep.contains(m_model->run(row).id)) hidden << m_model->run(row).id;
  m_model->setHidden(hidden);
}

// The row goes at once; the folder stays, and so does the way back.
void RunsPage::deleteSelected() {
  QStringList ids;
  for (const QString& id : selected())
    if (const RunRecord* run = context().store->find(id); run && !isLive(run->state) && run->deleted == 0) ids << id;
  if (ids.isEmpty()) {
    if (!selected().isEmpty()) context().notify({tr("A run that goes on stays in the list. Stop it first."), {}, {}});
    return;
  }
  const QString name = context().store->find(ids.first())->name;
  for (const QString& id : ids) context().store->remove(id);
  context().notify({ids.size() == 1 ? tr("%1 is out of the list. Its folder stays.").arg(name) : tr("%1 runs are out of the list. Their folders stay.").arg(ids.size()),
                    tr("Undo"), [this, ids] { for (const QString& id : ids) context().store->restore(id); }});
}

void RunsPage::editText(bool tags) {
  if (selected().isEmpty()) return;
  const QString id = selected().first();
  const RunRecord* const run = context().store->find(id);
  if (!run) return;
  delete m_card;
  m_card = new Popover(window());
  auto* title = new QLabel(tags ? tr("Tags of %1").arg(run->name) : tr("Note of %1").arg(run->name));
  title->setProperty("kind", "heading");
  auto* edit = new QLineEdit(tags ? run->tags.join(", ") : run->note);
  edit->setMinimumWidth(320);
  edit->setPlaceholderText(tags ? tr("first, second") : tr("What is to be remembered"));
  m_card->contentLayout()->addWidget(title);
  m_card->contentLayout()->addWidget(edit);
  connect(edit, &QLineEdit::returnPressed, m_card, [this, id, tags, edit] {
    context().store->change(id, [&](RunRecord& record) {
      if (!tags) {
        record.note = edit->text().trimmed();
        return;
      }
      record.tags.clear();
      for (const QString& tag : edit->text().split(',', Qt::SkipEmptyParts))
        if (!tag.trimmed().isEmpty()) record.tags << tag.trimmed();
    });
    context().launcher->keep(id);
    m_card->close();
  });
  m_card->openAt(m_search);
  edit->setFocus(Qt::PopupFocusReason);
}

void RunsPage::compare() {
  QList<RunRecord> runs;
  for (const QString& id : shown())
    if (const RunRecord* run = context().store->find(id)) runs << *run;
  if (runs.size() < 2) return;
  delete m_card;
  m_card = new CompareCard(runs, m_model->differing(), window());
  m_card->openAt(m_compare);
}

void RunsPage::openFolder() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Open a run folder"));
  if (folder.isEmpty()) return;
  try {
    context().launcher->openFolder(folder, context().document->path());
  } catch (const Error& error) {
    PageProblem problem;
    problem.placeText = tr("run folder");
    problem.message = QString::fromStdString(error.what());
    problem.place.page = "runs";
    Q_EMIT problemsChanged({problem});
    return;
  }
  Q_EMIT problemsChanged({});
}

void RunsPage::contextMenu(const QPoint& place) {
  const QModelIndex index = m_table->indexAt(place);
  const RunRecord* const run = context().store->find(index.data(RunsModel::idRole).toString());
  if (!run) return;
  const QString id = run->id;
  QMenu menu;
  menu.addAction(icon("training"), tr("Show its curves"), this, &RunsPage::openSelected);
  menu.addAction(icon("eye"), m_model->isShown(id) ? tr("Hide in the charts") : tr("Show in the charts"), this, &RunsPage::toggleSelected);
  menu.addAction(tr("Hide others"), this, &RunsPage::hideOthers);
  menu.addSeparator();
  if (Launcher::may(run->state, RunAction::resume))
    menu.addAction(icon("resume"), tr("Resume"), this, [this, id] { context().launcher->resume(id); });
  if (Launcher::may(run->state, RunAction::stop)) menu.addAction(icon("stop"), tr("Stop now"), this, [this, id] { context().launcher->stop(id); });
  if (Launcher::may(run->state, RunAction::kill)) menu.addAction(tr("Kill, without a checkpoint"), this, [this, id] { context().launcher->kill(id); });
  menu.addAction(icon("rename"), tr("Rename"), this, &RunsPage::rename);
  menu.addAction(tr("Tags..."), this, [this] { editText(true); });
  menu.addAction(tr("Note..."), this, [this] { editText(false); });
  menu.addAction(icon("folder"), tr("Show its folder"), this, [folder = run->folder] { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); });
  menu.addSeparator();
  if (run->deleted > 0) menu.addAction(tr("Back into the list"), this, [this, id] { context().store->restore(id); });
  else menu.addAction(icon("delete"), tr("Delete"), this, &RunsPage::deleteSelected);
  try {
    menu.exec(m_table->viewport()->mapToGlobal(place));
  } catch (const Error& error) {
    context().notify({QString::fromStdString(error.message()), {}, {}});
  }
}

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
