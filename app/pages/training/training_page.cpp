#include "app/pages/training/training_page.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPainter>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTabBar>
#include <cmath>

#include "app/attempt.h"
#include "app/exports.h"
#include "app/pages/training/rate_card.h"
#include "app/pages/training/run_curves.h"
#include "app/pages/training/run_evaluation.h"
#include "app/pages/training/run_facts.h"
#include "app/pages/training/run_landscape.h"
#include "app/pages/training/run_large_batch.h"
#include "app/pages/training/run_layers.h"
#include "app/pages/training/run_prediction.h"
#include "app/pages/training/run_texts.h"
#include "app/pages/training/run_time.h"
#include "app/run_display.h"
#include "app/run_doubt.h"
#include "app/run_hosts.h"
#include "app/smoothing_slider.h"
#include "app/trained_runs.h"
#include "app/workspace.h"
#include "widgets/chart/chart_stack.h"
#include "widgets/controls/button.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/status_label.h"
#include "widgets/controls/switch.h"
#include "widgets/controls/text.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kSoonMs = 66;  // of the header and the facts; curves have their own clock
constexpr int kEventsMs = 500;
constexpr int kSecondMs = 1000;  // time so far, log
constexpr int kTimeTab = 3;      // behind curves, log, settings
constexpr int kPredictTab = 4;
constexpr int kEvaluationTab = 5;
constexpr int kLargeBatchTab = 6;
constexpr int kLayersTab = 7, kLandscapeTab = 8;
constexpr int kNarrow = 1000, kFactsWidth = 304, kAroundTabs = 8 + 16 + 2;

}  // namespace

TrainingPage::TrainingPage(AppContext& context, QWidget* parent) : Page(context, parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  makeHeader(column);
  column->addWidget(hairline());

  auto* row = new QHBoxLayout;
  row->setSpacing(0);
  auto* left = new QVBoxLayout;
  left->setSpacing(0);
  m_facts = new RunFacts(context);
  m_curves = new RunCurves(context);
  makeTools(left);
  left->addWidget(hairline());
  m_views = new QStackedWidget;
  // A window that is too low for all charts scrolls them.
  auto* curves = new QScrollArea;
  curves->setObjectName("curves-scroll");
  curves->setWidgetResizable(true);
  curves->setFrameShape(QFrame::NoFrame);
  curves->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  curves->setFocusPolicy(Qt::NoFocus);
  curves->setWidget(m_curves);
  m_curves->setAutoFillBackground(false);
  curves->viewport()->setAutoFillBackground(false);
  m_logView = new RunLog(context);
  m_settings = new RunSettings(context);
  for (QWidget* each : std::initializer_list<QWidget*>{
           curves, m_logView, m_settings,
           m_time = new RunTime(context), m_prediction = new RunPrediction(context, m_engine),
           m_evaluation = new RunEvaluation(context, m_engine), m_largeBatch = new RunLargeBatch(context),
           m_layers = new RunLayers(context), m_landscape = new RunLandscape(context)})
    m_views->addWidget(each);
  left->addWidget(m_views, 1);
  row->addLayout(left, 1);
  auto* line = hairline(Qt::Vertical);
  line->setObjectName("facts-line");
  row->addWidget(line);
  auto* scroll = new QScrollArea;
  scroll->setObjectName("facts-scroll");
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  keepWidth(scroll, kFactsWidth);
  scroll->setWidget(m_facts);
  row->addWidget(scroll);
  column->addLayout(row, 1);

  m_soon.setSingleShot(true);
  m_soon.setInterval(kSoonMs);
  connect(&m_soon, &QTimer::timeout, this, &TrainingPage::refresh);
  m_second.setInterval(kSecondMs);
  connect(&m_second, &QTimer::timeout, this, &TrainingPage::refresh);
  const auto soon = [this](const QString& id) {
    if (id == m_run && isVisible() && !m_soon.isActive()) m_soon.start();
  };
  RunStore& store = *context.store;
  connect(&store, &RunStore::pointsAdded, this, [this, soon](const QString& id) {
    if (id != m_run) return;
    m_pointsCame = true;
    // The chart takes it at once: it draws at most thirty times a second by itself.
    if (isVisible()) m_curves->pointsAdded();
    if (isVisible() && m_tabs->currentIndex() == kLargeBatchTab) m_largeBatch->pointsAdded();
    soon(id);
  });
  connect(&store, &RunStore::eventsAdded, this, [this, soon](const QString& id) {
    if (id == m_run) m_eventsCame = true;
    soon(id);
  });
  connect(&store, &RunStore::runChanged, this, soon);
  connect(context.launcher, &Launcher::stageChanged, this, soon);
  connect(context.launcher, &Launcher::doubtChanged, this, soon);
  connect(&store, &RunStore::runRemoved, this, [this] { showRun(this->context().workspace->currentRun()); });
  connect(context.workspace, &Workspace::currentRunChanged, this, &TrainingPage::showRun);
  // A run that was just started is seen in its curves, whatever was looked at of the one before.
  connect(context.workspace, &Workspace::submitted, this, [this](const QString& id) {
    m_tabs->setCurrentIndex(0);
    showRun(id);
  });
  connect(
      context.theme, &Theme::changed, this,
      [this] {
        QResizeEvent same(size(), size());
        resizeEvent(&same);
      },
      Qt::QueuedConnection);
  connect(m_curves, &RunCurves::cursorAt, m_layers, &RunLayers::cursorAt);
  makeActions();
  tellExports(m_curves->stack(), *this, "training");
  tellExports(m_largeBatch->stack(), *this, "training");
  showRun(context.workspace->currentRun());
}

TrainingPage::~TrainingPage() = default;

void TrainingPage::carryOut(const std::function<void()>& wish) {
  const QString fault = attempt(wish);
  m_fault->setProperty("wish", fault.isEmpty() ? QVariant() : fault);
  refresh();
}

void TrainingPage::showTab(int index) {
  m_views->setCurrentIndex(index);
  if (index == 1) m_logView->setRun(m_run);
  if (index == 2) m_settings->setRun(m_run);
  if (index == kTimeTab) m_time->setRun(m_run);
  if (index == kPredictTab) m_prediction->setRun(m_run);
  if (index == kEvaluationTab) m_evaluation->setRun(m_run);
  if (index == kLargeBatchTab) m_largeBatch->setRun(m_run);
  if (index == kLayersTab) m_layers->setRun(m_run);
  if (index == kLandscapeTab) m_landscape->setRun(m_run);
  placeFacts();
  Q_EMIT statusChanged(index == 0 ? m_curves->words() : QString());
}

// An evaluation has figures of its own there.
bool TrainingPage::showsFacts() const {
  return m_facts->form() == RunFacts::Form::column && m_tabs->currentIndex() != kEvaluationTab;
}

void TrainingPage::placeFacts() {
  for (const char* name : {"facts-scroll", "facts-line"})
    if (auto* const part = findChild<QWidget*>(name)) part->setVisible(showsFacts());
  if (auto* const strip = findChild<QWidget*>("facts-strip"))
    strip->setVisible(m_facts->form() == RunFacts::Form::strip && m_tabs->currentIndex() != kEvaluationTab);
  placeTools();
}

void TrainingPage::showRun(const QString& id) {
  m_run = id;
  m_eventsCame = true;
  m_sinceEvents.invalidate();
  m_pointsCame = false;
  m_doubt->setRun(id);
  m_curves->setRun(id);
  m_curves->pointsAdded();
  showTab(m_tabs->currentIndex());
  refresh();
}

void TrainingPage::refresh() {
  const RunRecord* const run = context().store->find(m_run);
  const auto may = [&](RunAction action) { return run && Launcher::may(run->state, action); };
  m_state->setVisible(run);
  m_name->setEnabled(run);
  if (!m_name->hasFocus()) {
    m_name->setText(run ? run->name : tr("No run yet"));
    const int width = QFontMetrics(m_name->font()).horizontalAdvance(m_name->text()) + 16;
    m_name->setFixedWidth(std::clamp(width, 60, 420));
    m_name->setCursorPosition(0);
  }
  m_rate->setVisible(may(RunAction::setLearningRate));
  m_stopAfter->setVisible(may(RunAction::stopAfterEpoch));
  m_stop->setVisible(may(RunAction::stop) || (run && run->state == RunState::stopping));
  m_stop->setEnabled(may(RunAction::stop));
  const bool resumes = run && mayResume(*run, *context().models);
  m_resume->setVisible(resumes);
  m_changes->setVisible(may(RunAction::resume) && !resumes);
  m_more->setVisible(run);
  if (run) {
    const bool after = context().launcher->stopsAfterEpoch(m_run);
    const auto epoch = static_cast<std::int64_t>(std::floor(run->epoch)) + 1;
    m_stopAfter->setText(after ? tr("Stops after epoch %1").arg(epoch) : tr("Stop after epoch %1").arg(epoch));
    m_stopAfter->setEnabled(!after);
    QString words = toText(run->state);
    if (run->state == RunState::running && run->step == 0) words = tr("Preparing");
    if (run->state == RunState::queued && context().launcher->waiting() > 0) words = tr("Queued");
    // What a host does before the first point: "Uploading training: 12 of 61 MiB".
    if (const JobStage stage = context().launcher->stage(m_run);
        run->step == 0 && isLive(run->state) && !stage.sentence.isEmpty())
      words = stage.sentence;
    const bool doubtful = !context().launcher->doubt(m_run).isEmpty();
    if (doubtful) words = tr("Not known how it goes");
    m_state->setStatus(doubtful ? Status::warning : statusOf(run->state), words);
    qsizetype number = 1, counted = 0;
    context().workspace->forEachRun([&](const RunRecord& each) {
      ++counted;
      if (each.id == m_run) number = counted;
    });
    const QString host = context().runHosts->hostOf(*run);
    QStringList parts{tr("Run %1").arg(number) + (host.isEmpty()
                                                      ? tr(" on this machine")
                                                      : tr(" on %1").arg(context().workspace->hostName(host)))};
    if (const auto seed = run->settings.find("seed"); seed != run->settings.end())
      parts << tr("seed %1").arg(QString::fromStdString(seed->dump()));
    if (run->attempt > 1) parts << tr("attempt %1").arg(run->attempt);
    if (run->started > 0) parts << tr("started %1").arg(formatClock(run->started));
    m_place->setText(parts.join(", "));
    m_place->setToolTip(m_place->text());
    refreshFault(*run);
  } else {
    m_place->setText(tr("Train starts one here"));
    m_fault->hide();
  }
  m_facts->refresh(run);
  m_curves->runChanged();
  // What happened is read and laid out anew: twice a second is enough for a person.
  if (m_eventsCame && (!m_sinceEvents.isValid() || m_sinceEvents.hasExpired(kEventsMs))) {
    m_eventsCame = false;
    m_sinceEvents.start();
    m_facts->refreshEvents(m_run);
    if (m_tabs->currentIndex() == kTimeTab) m_time->refresh();
    if (m_tabs->currentIndex() == kPredictTab) m_prediction->refresh();
    if (m_tabs->currentIndex() == kEvaluationTab) m_evaluation->refresh();
    if (m_tabs->currentIndex() == kLargeBatchTab) m_largeBatch->eventsAdded();
    if (m_tabs->currentIndex() == kLandscapeTab) m_landscape->refresh();
    m_curves->eventsAdded();
    m_curves->pointsAdded();
  }
  if (m_tabs->currentIndex() == 1) m_logView->refresh();
  if (m_eventsCame && isVisible() && !m_soon.isActive())
    m_soon.start(kEventsMs);
  else if (m_soon.interval() != kSoonMs)
    m_soon.setInterval(kSoonMs);
  const bool ticks = run && isLive(run->state) && isVisible();
  if (ticks != m_second.isActive()) ticks ? m_second.start() : m_second.stop();
}

void TrainingPage::refreshFault(const RunRecord& run) {
  const QString wish = m_fault->property("wish").toString();
  const QString sentence = !wish.isEmpty() ? wish : run.state == RunState::failed ? run.message : QString();
  m_fault->setVisible(!sentence.isEmpty());
  m_faultText->setText(sentence);
  QPalette palette = m_fault->palette();
  palette.setColor(QPalette::Window, context().theme->colour(Colour::errorSoft));
  m_fault->setPalette(palette);
}

void TrainingPage::openRateCard() {
  const double now = context().store->lastValue(m_run, series::kRate).value_or(0);
  delete m_card;
  auto* card = new RateCard(now, window());
  card->setAttribute(Qt::WA_DeleteOnClose);
  m_card = card;
  connect(card, &RateCard::wanted, this,
          [this](double rate) { carryOut([&] { context().launcher->setLearningRate(m_run, rate); }); });
  card->openAt(m_rate);
}

void TrainingPage::activated() {
  if (m_run.isEmpty() || !context().store->find(m_run)) showRun(context().workspace->currentRun());
  m_eventsCame = true;
  refresh();
}

void TrainingPage::deactivated() {
  m_second.stop();
}

bool TrainingPage::show(const Place& place) {
  if (!place.run.isEmpty()) showRun(place.run);
  return true;
}

bool TrainingPage::filesDropped(const QList<QUrl>& urls) {
  const RunRecord* const run = context().store->find(m_run);
  if (!run || !hasWeightsHere(*run)) return false;
  QStringList files;
  for (const QUrl& url : urls)
    if (QFileInfo(url.toLocalFile()).isFile()) files << url.toLocalFile();
  if (files.size() != urls.size()) return false;
  m_tabs->setCurrentIndex(kPredictTab);
  m_prediction->predict(files);
  return true;
}

void TrainingPage::openMore() {
  const RunRecord* const run = context().store->find(m_run);
  if (!run) return;
  QMenu menu;
  menu.setObjectName("run-more");
  const auto add = [&](const QString& text, const char* sign, bool enabled, auto act) {
    QAction* const action = menu.addAction(loom::icon(QString::fromLatin1(sign)), text, this, act);
    action->setEnabled(enabled);
  };
  const bool trained = hasWeightsHere(*run);
  add(tr("Predict..."), "play", trained, [this] { m_tabs->setCurrentIndex(kPredictTab); });
  add(tr("Evaluate..."), "grid", trained, [this] { m_tabs->setCurrentIndex(kEvaluationTab); });
  add(tr("Export model..."), "export", trained, [this] { context().commands->run("export-model", {{"run", m_run}}); });
  add(tr("Four more seeds"), "shuffle", true, [this] { context().commands->run("seeds"); });
  add(tr("Open its drawing"), "network", true, [this] { context().commands->run("open-drawing", {{"run", m_run}}); });
  menu.exec(m_more->mapToGlobal(QPoint(0, m_more->height())));
}

void TrainingPage::toggleInspector() {
  if (auto* scroll = findChild<QScrollArea*>("facts-scroll")) scroll->setVisible(!scroll->isVisible());
}

QList<QWidget*> TrainingPage::areas() const {
  return {m_name, m_tabs,
          m_tabs->currentIndex() == 0 ? static_cast<QWidget*>(&m_curves->loss()) : m_views->currentWidget()};
}

QJsonObject TrainingPage::saveLayout() const {
  return {{"tab", m_tabs->currentIndex()},
          {"unit", m_unit->current()},
          {"smoothing_weight", m_smoothing->weight()},
          {"log", m_log->isChecked()},
          {"so_far", m_extent->current() == 1},
          {"time", m_time->byOperation()}};
}

void TrainingPage::restoreLayout(const QJsonObject& layout) {
  // Made for a run that was just started, the page shows its curves.
  const RunRecord* const run = context().store->find(m_run);
  m_tabs->setCurrentIndex(run && isLive(run->state) ? 0 : layout["tab"].toInt(0));
  m_unit->setCurrent(std::clamp(layout["unit"].toInt(0), 0, 3));
  m_smoothing->setWeight(layout["smoothing_weight"].toDouble(kUsualSmoothing));
  m_log->setChecked(layout["log"].toBool(false));
  m_extent->setCurrent(layout["so_far"].toBool(false) ? 1 : 0);
  m_time->setByOperation(layout["time"].toBool(false));
}

bool TrainingPage::settled() const {
  return !m_soon.isActive();
}

void TrainingPage::resizeEvent(QResizeEvent* event) {
  Page::resizeEvent(event);
  auto* const scroll = findChild<QScrollArea*>("facts-scroll");
  // The names of the tabs stand whole: what is beside them gives way.
  const bool narrow = width() < kNarrow || m_tabs->sizeHint().width() + kAroundTabs + scroll->minimumWidth() > width();
  const RunFacts::Form form = narrow ? RunFacts::Form::strip : RunFacts::Form::column;
  if (form == m_facts->form() && event->oldSize().width() > 0) return placeTools();
  auto* const strip = findChild<QWidget*>("facts-strip");
  m_facts->setForm(form);
  m_largeBatch->setShowsRanks(form == RunFacts::Form::strip);
  if (form == RunFacts::Form::strip) {
    if (scroll->widget()) scroll->takeWidget();
    strip->layout()->addWidget(m_facts);
    m_facts->show();
  } else if (!scroll->widget()) {
    strip->layout()->removeWidget(m_facts);
    scroll->setWidget(m_facts);
    m_facts->show();
  }
  placeFacts();
}

void TrainingPage::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), context().theme->colour(Colour::surface));
}

}  // namespace loom
