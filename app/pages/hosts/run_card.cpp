#include "app/pages/hosts/run_card.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QProgressBar>
#include <QVBoxLayout>
#include <cmath>

#include "app/attempt.h"
#include "app/run_display.h"
#include "app/run_doubt.h"
#include "app/run_hosts.h"
#include "app/run_metrics.h"
#include "app/workspace.h"
#include "widgets/controls/button.h"
#include "widgets/controls/status_label.h"
#include "widgets/controls/text.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {}  // namespace

void showCurvesOf(AppContext& context, const QString& id) {
  const RunRecord* const run = context.store->find(id);
  if (!run) return;
  if ((!context.document || context.document->path() != run->project) && QFileInfo::exists(run->project))
    context.openProject(run->project);
  Place place;
  place.page = "training";
  place.run = id;
  context.go(place);
}

RunCard::RunCard(AppContext& context, const QString& run, int place, QWidget* parent)
    : QFrame(parent),
      m_context(context),
      m_run(run),
      m_place(place),
      m_state(new StatusLabel(place ? Status::queued : Status::running)),
      m_name(makeLabel("heading")),
      m_host(makeLabel("field")),
      m_words(makeLabel("field")),
      m_left(makeLabel("number")),
      m_fault(makeLabel("error")),
      m_bar(new QProgressBar),
      m_curves(new Button(tr("Show curves"), ButtonKind::outlined)),
      m_stop(new Button(place ? tr("Take out") : tr("Stop"), place ? ButtonKind::outlined : ButtonKind::danger)),
      m_priority(new Button(QString(), ButtonKind::link)) {
  setProperty("kind", "card");
  setObjectName("run-" + run);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(14, 11, 13, 12);
  column->setSpacing(6);
  auto* top = new QHBoxLayout;
  top->setSpacing(8);
  top->addWidget(m_name, 1);
  m_priority->setObjectName("priority");
  m_priority->setToolTip(
      tr("Exclusive: goes before shared runs, which give way to it.\nShared when idle: goes when nobody else wants the "
         "host, "
         "gives way with a checkpoint and goes on later."));
  top->addWidget(m_priority);
  top->addWidget(m_state);
  column->addLayout(top);
  m_words->setWordWrap(true);
  column->addWidget(m_words);
  m_bar->setRange(0, 1000);
  m_bar->setTextVisible(false);
  m_bar->setVisible(!place);
  column->addWidget(m_bar);
  m_fault->setWordWrap(true);
  m_fault->hide();
  column->addWidget(m_fault);
  if (!place) {
    m_doubt = new RunDoubt(context);
    column->addWidget(m_doubt);
    m_doubt->setRun(run);
  }
  auto* foot = new QHBoxLayout;
  foot->setSpacing(8);
  keepFont(m_left, FontRole::label, Face::numbers);
  foot->addWidget(place ? m_host : m_left, 1);
  if (place) {
    setFocusPolicy(Qt::TabFocus);
    m_up = iconButton("chevron-up", tr("Earlier (Alt+Up)"));
    m_down = iconButton("chevron-down", tr("Later (Alt+Down)"));
    m_up->setObjectName("earlier");
    m_down->setObjectName("later");
    for (QPushButton* const each : {m_up, m_down}) foot->addWidget(each);
    connect(m_up, &QPushButton::clicked, this, [this] { move(-1); });
    connect(m_down, &QPushButton::clicked, this, [this] { move(1); });
  }
  connect(m_priority, &Button::clicked, this, &RunCard::choosePriority);
  m_curves->setObjectName("show-curves");
  m_stop->setObjectName("stop-run");
  m_curves->setVisible(!place);
  foot->addWidget(m_curves);
  foot->addWidget(m_stop);
  column->addLayout(foot);
  (place ? m_left : m_host)->setParent(this);
  (place ? m_left : m_host)->hide();
  connect(m_curves, &Button::clicked, this, [this] { showCurvesOf(m_context, m_run); });
  connect(m_stop, &Button::clicked, this, &RunCard::stop);
}

void RunCard::tell(const QString& fault) {
  m_fault->setText(fault);
  m_fault->setVisible(!fault.isEmpty());
}

void RunCard::stop() {
  tell(attempt([this] { m_context.launcher->stop(m_run); }));
}

void RunCard::move(int by) {
  const QString fault = attempt([&] { m_context.launcher->moveInQueue(m_run, by); });
  if (!fault.isEmpty()) return tell(fault);
  Q_EMIT moved();  // nothing of this card may be touched any more
}

void RunCard::keyPressEvent(QKeyEvent* event) {
  const bool up = event->key() == Qt::Key_Up, down = event->key() == Qt::Key_Down;
  if (m_place && event->modifiers() == Qt::AltModifier && (up || down)) return move(up ? -1 : 1);
  QFrame::keyPressEvent(event);
}

void RunCard::paintEvent(QPaintEvent* event) {
  QFrame::paintEvent(event);
  if (!hasFocus()) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(Theme::of(this).colour(Colour::focus), 2));
  painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 7, 7);
}

void RunCard::choosePriority() {
  QMenu menu(this);
  const Priority now = m_context.launcher->priority(m_run);
  for (const auto& [priority, text] :
       {std::pair{Priority::exclusive, tr("Exclusive")}, std::pair{Priority::shared, tr("Shared when idle")}}) {
    QAction* const action = menu.addAction(text);
    action->setCheckable(true);
    action->setChecked(priority == now);
    connect(action, &QAction::triggered, this,
            [this, priority = priority] { tell(attempt([&] { m_context.launcher->setPriority(m_run, priority); })); });
  }
  menu.exec(m_priority->mapToGlobal(QPoint(0, m_priority->height())));
}

void RunCard::refresh(const RunRecord& run) {
  const QString host = m_context.workspace->hostName(m_context.runHosts->hostOf(run));
  m_name->setText(m_place ? QStringLiteral("%1  %2").arg(m_place).arg(run.name) : run.name);
  setAccessibleName(run.name + ", " + toText(run.state));
  m_stop->setEnabled(Launcher::may(run.state, RunAction::stop));
  const bool shared = m_context.launcher->priority(run.id) == Priority::shared;
  m_priority->setText(shared ? tr("shared when idle") : tr("exclusive"));
  m_priority->setAccessibleName(tr("Priority of %1: %2").arg(run.name, m_priority->text()));
  if (m_place) {
    m_state->setStatus(Status::queued, tr("Queued"));
    m_words->setText(run.message.isEmpty() ? host : host + ". " + run.message);
    m_host->setText(tr("Since %1").arg(formatMoment(run.created)));
    const QStringList& queue = m_context.launcher->queue();
    const qsizetype at = queue.indexOf(run.id);
    m_up->setEnabled(at > 0 && m_context.launcher->priority(queue[at - 1]) == m_context.launcher->priority(run.id));
    m_down->setEnabled(at >= 0 && at + 1 < queue.size() &&
                       m_context.launcher->priority(queue[at + 1]) == m_context.launcher->priority(run.id));
    m_host->setVisible(true);
    setStyleProperty(m_host, "kind", "hint");
    return;
  }
  const JobStage stage = m_context.launcher->stage(run.id);
  const bool before = !stage.sentence.isEmpty() && run.step == 0;
  if (!m_context.launcher->doubt(run.id).isEmpty())
    m_state->setStatus(Status::warning, tr("Not known"));
  else
    m_state->setStatus(Status::running, run.stepsTotal > 0 && run.step > 0
                                            ? tr("%1%2%").arg(static_cast<int>(run.progress() * 100)).arg(kNarrowSpace)
                                            : toText(run.state));
  QStringList parts{host};
  if (before)
    parts << stage.sentence;
  else if (run.step == 0)
    parts << tr("preparing");
  else if (run.epochs > 0)
    parts << tr("epoch %1 of %2").arg(formatFixed(run.epoch, 1), formatCount(run.epochs));
  else
    parts << tr("step %1 of %2")
                 .arg(formatCount(static_cast<double>(run.step)), formatCount(static_cast<double>(run.stepsTotal)));
  if (run.bestStep >= 0) parts << tr("best %1").arg(m_context.runMetrics->text(run, run.best));
  m_words->setText(parts.join(", "));
  const double share = before ? stage.share : run.progress();
  m_bar->setValue(static_cast<int>(std::clamp(share, 0.0, 1.0) * 1000));
  const double left = secondsLeft(run);
  m_left->setText(std::isnan(left) ? QString() : tr("%1 left").arg(formatDuration(left, true)));
}

}  // namespace loom
