#include "app/pages/hosts/queue_panel.h"

#include <QDateTime>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QVBoxLayout>
#include <algorithm>

#include "app/pages/hosts/done_row.h"
#include "app/pages/hosts/run_card.h"
#include "app/run_hosts.h"
#include "app/run_metrics.h"
#include "app/workspace.h"
#include "launcher/launcher.h"
#include "widgets/controls/button.h"
#include "widgets/controls/segmented_control.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kSoonMs = 100, kMostDone = 20;

double startOfToday() {
  return static_cast<double>(QDate::currentDate().startOfDay().toSecsSinceEpoch());
}

}  // namespace

QueuePanel::QueuePanel(AppContext& context, QWidget* parent) : QFrame(parent), m_context(context) {
  setProperty("kind", "panel");
  setObjectName("queue");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(0);
  auto* head = new QWidget;
  auto* row = new QHBoxLayout(head);
  row->setContentsMargins(20, 14, 20, 8);
  row->setSpacing(10);
  row->addWidget(makeLabel("title", tr("Queue")));
  m_count = makeLabel("number", {});
  row->addWidget(m_count);
  row->addStretch();
  m_scope = new SegmentedControl({tr("This host"), tr("All hosts")});
  m_scope->setObjectName("queue-scope");
  m_scope->setAccessibleName(tr("Runs of"));
  m_scope->setCurrent(1);
  row->addWidget(m_scope);
  column->addWidget(head);
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_content = new QWidget;
  m_content->setProperty("kind", "scrolled");
  m_rows = new QVBoxLayout(m_content);
  m_rows->setContentsMargins(20, 4, 20, 20);
  m_rows->setSpacing(8);
  scroll->setWidget(m_content);
  column->addWidget(scroll, 1);
  connect(m_scope, &SegmentedControl::currentChanged, this, &QueuePanel::refresh);
  m_soon.setSingleShot(true);
  m_soon.setInterval(kSoonMs);
  connect(&m_soon, &QTimer::timeout, this, &QueuePanel::refresh);
  const auto soon = [this] {
    if (!m_soon.isActive()) m_soon.start();
  };
  for (const auto signal : {&RunStore::runAdded, &RunStore::runChanged, &RunStore::runRemoved, &RunStore::pointsAdded})
    connect(context.store, signal, this, soon);
  connect(context.launcher, &Launcher::stageChanged, this, soon);
  connect(context.launcher, &Launcher::countsChanged, this, soon);
  connect(context.launcher, &Launcher::doubtChanged, this, soon);
  refresh();
}

void QueuePanel::setHost(const QString& host) {
  m_host = host;
  refresh();
}

QList<RunRecord> QueuePanel::shown() const {
  QList<RunRecord> runs;
  for (const RunRecord& each : m_context.store->runs())
    if (m_scope->current() == 1 || m_context.runHosts->hostOf(each) == m_host) runs << each;
  return runs;
}

// Cards stay while what they stand for stays: a button under the pointer must not vanish with every step of a run.
void QueuePanel::refresh() {
  m_soon.stop();
  const double today = startOfToday();
  QString wanted = QStringLiteral("built ");  // an empty queue has its words too
  int length = 0;
  for (const RunRecord& each : shown()) {
    const bool busy = isLive(each.state) || each.state == RunState::queued;
    if (busy) ++length;
    if (each.state == RunState::queued) wanted += QString::number(m_context.launcher->queue().indexOf(each.id)) + '/';
    if (busy || each.ended >= today)
      wanted += each.id + QString::number(busy ? isLive(each.state) : 2 + static_cast<int>(each.state)) + each.name +
                each.message;
  }
  m_count->setText(QString::number(length));
  if (wanted != m_built) {
    m_built = wanted;
    rebuild();
  }
  for (auto each = m_cards.begin(); each != m_cards.end(); ++each)
    if (const RunRecord* const run = m_context.store->find(each.key())) each.value()->refresh(*run);
  if (std::exchange(m_length, length) != length) Q_EMIT lengthChanged();
}

void QueuePanel::rebuild() {
  while (QLayoutItem* const item = m_rows->takeAt(0)) {
    if (item->widget()) item->widget()->deleteLater(), item->widget()->hide();
    delete item;
  }
  m_cards.clear();
  QList<RunRecord> running, waiting, done;
  for (const RunRecord& each : shown()) {
    if (isLive(each.state))
      running << each;
    else if (each.state == RunState::queued)
      waiting << each;
    else if (each.ended >= startOfToday())
      done << each;
  }
  const QStringList& order = m_context.launcher->queue();
  std::stable_sort(waiting.begin(), waiting.end(), [&](const RunRecord& one, const RunRecord& other) {
    return order.indexOf(one.id) < order.indexOf(other.id);
  });
  std::stable_sort(done.begin(), done.end(),
                   [](const RunRecord& one, const RunRecord& other) { return one.ended > other.ended; });
  const auto hairline = [this] {
    auto* line = new QFrame;
    line->setProperty("kind", "hairline");
    m_rows->addSpacing(8);
    m_rows->addWidget(line);
    m_rows->addSpacing(4);
  };
  int number = 0;
  const auto card = [&](const RunRecord& run, int place) {
    auto* made = new RunCard(m_context, run.id, place);
    connect(made, &RunCard::moved, this, [this, id = run.id] {
      refresh();
      RunCard* const card = m_cards.value(id);
      if (!card) return;
      card->show();                          // a hidden one takes no focus, and the layout shows it later
      card->setFocus(Qt::OtherFocusReason);  // the keys go on with the run
    });
    m_cards.insert(run.id, made);
    m_rows->addWidget(made);
  };
  m_rows->addWidget(makeLabel("label", tr("Running")));
  for (const RunRecord& each : std::as_const(running)) card(each, 0);
  if (running.isEmpty())
    m_rows->addWidget(makeLabel("hint",
                                waiting.isEmpty()
                                    ? tr("Nothing runs. Train starts a run on the host that the top bar names.")
                                    : tr("Nothing runs."),
                                nullptr, Wrap::yes));
  if (!waiting.isEmpty()) {
    m_rows->addSpacing(6);
    auto* head = new QWidget;
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(makeLabel("label", tr("Waiting")), 1);
    if (waiting.size() > 1) row->addWidget(makeLabel("hint", tr("Alt+Up and Alt+Down move a run")));
    m_rows->addWidget(head);
    for (const RunRecord& each : std::as_const(waiting)) card(each, ++number);
  }
  if (!done.isEmpty()) {
    hairline();
    auto* head = new QWidget;
    auto* row = new QHBoxLayout(head);
    row->setContentsMargins(0, 0, 0, 0);
    row->addWidget(makeLabel("label", tr("Done today")), 1);
    auto* show = new Button(tr("Show in Runs"), ButtonKind::link);
    show->setObjectName("show-in-runs");
    show->setVisible(m_context.document);
    connect(show, &Button::clicked, this, [this] {
      Place place;
      place.page = "runs";
      m_context.go(place);
    });
    row->addWidget(show);
    m_rows->addWidget(head);
    auto* list = new QWidget;
    auto* rows = new QVBoxLayout(list);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    for (const RunRecord& each : done.mid(0, kMostDone)) {
      auto* made = new DoneRow(each, each.bestStep >= 0 ? m_context.runMetrics->text(each, each.best) : QString());
      connect(made, &DoneRow::clicked, this, [this, id = each.id] { showCurvesOf(m_context, id); });
      rows->addWidget(made);
    }
    m_rows->addWidget(list);
  }
  hairline();
  m_rows->addWidget(makeLabel("label", tr("If you close Gradloom")));
  m_rows->addWidget(
      makeLabel("field",
                tr("Runs go on, here and on hosts. Runs that wait go on waiting until Gradloom is open again; on Slurm "
                   "they wait there. "
                   "The curves catch up when you come back: nothing is lost and nothing is counted twice."),
                nullptr, Wrap::yes));
  m_rows->addStretch();
}

}  // namespace loom
