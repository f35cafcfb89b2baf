#include "app/run_doubt.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include "app/attempt.h"
#include "launcher/launcher.h"
#include "widgets/controls/button.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/text.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kSign = 14;

}  // namespace

RunDoubt::RunDoubt(AppContext& context, QWidget* parent)
    : QWidget(parent),
      m_context(context),
      m_sentence(makeLabel("", {}, nullptr, Wrap::yes)),
      m_loss(makeLabel("", {}, nullptr, Wrap::yes)),
      m_fault(makeLabel("error", {}, nullptr, Wrap::yes)),
      m_end(new Button(tr("Count as ended"), ButtonKind::outlined)),
      m_anew(new Button(tr("Submit anew"), ButtonKind::outlined)),
      m_sure(new Button(QString(), ButtonKind::danger)),
      m_wait(new Button(tr("Wait"), ButtonKind::outlined)),
      m_choice(new QWidget),
      m_confirm(new QWidget) {
  setObjectName("run-doubt");
  m_sentence->setObjectName("doubt-sentence");
  m_sentence->setTextInteractionFlags(Qt::TextSelectableByMouse);
  m_loss->setObjectName("doubt-loss");
  m_end->setObjectName("count-as-ended");
  m_anew->setObjectName("submit-anew");
  m_sure->setObjectName("confirm-doubt");
  m_wait->setObjectName("wait");
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 9, 12, 10);
  row->setSpacing(10);
  row->addWidget(new IconLabel("status-warning", Colour::warning, kSign), 0, Qt::AlignTop);
  auto* column = new QVBoxLayout;
  column->setSpacing(8);
  column->addWidget(m_sentence);
  const auto buttons = [&](QWidget* in, std::initializer_list<QWidget*> all) {
    auto* inside = new QHBoxLayout(in);
    inside->setContentsMargins(0, 0, 0, 0);
    inside->setSpacing(8);
    for (QWidget* each : all) inside->addWidget(each);
    inside->addStretch();
    column->addWidget(in);
  };
  buttons(m_choice, {m_end, m_anew});
  column->addWidget(m_loss);
  buttons(m_confirm, {m_wait, m_sure});
  column->addWidget(m_fault);
  row->addLayout(column, 1);
  connect(m_end, &Button::clicked, this, [this] { ask(Wish::end); });
  connect(m_anew, &Button::clicked, this, [this] { ask(Wish::anew); });
  connect(m_wait, &Button::clicked, this, [this] { ask(Wish::none); });
  connect(m_sure, &Button::clicked, this, &RunDoubt::carryOut);
  connect(context.launcher, &Launcher::doubtChanged, this, [this](const QString& id) {
    if (id == m_run) refresh();
  });
  refresh();
}

void RunDoubt::setRun(const QString& run) {
  if (run == m_run) return;
  m_run = run;
  m_fault->clear();
  ask(Wish::none);
}

void RunDoubt::ask(Wish wish) {
  m_wish = wish;
  refresh();
  // The keys go on with what is asked; the careless answer is to wait.
  if (wish != Wish::none) m_wait->setFocus(Qt::OtherFocusReason);
}

void RunDoubt::refresh() {
  const QString doubt = m_run.isEmpty() ? QString() : m_context.launcher->doubt(m_run);
  if (doubt.isEmpty()) m_wish = Wish::none;
  const bool asks = m_wish != Wish::none;
  m_sentence->setText(doubt);
  m_choice->setVisible(!asks);
  m_loss->setVisible(asks);
  m_confirm->setVisible(asks);
  m_loss->setText(
      m_wish == Wish::anew
          ? tr("It begins once more from its first step, as a run of its own; this one counts as ended. If it still "
               "goes on there, both train.")
          : tr("Its curves up to here stay. If it still goes on there, what it does from now on is lost here."));
  m_sure->setText(m_wish == Wish::anew ? m_anew->text() : m_end->text());
  m_fault->setVisible(!m_fault->text().isEmpty());
  setVisible(!doubt.isEmpty());
}

void RunDoubt::carryOut() {
  Launcher& launcher = *m_context.launcher;
  const QString run = m_run;
  QString fresh;
  // While it is carried out the card that this stands on may be taken away, but not deleted.
  const QString fault = attempt([&] {
    if (m_wish == Wish::anew)
      fresh = launcher.submitAnew(run);
    else
      launcher.giveUp(run);
  });
  m_fault->setText(fault);
  ask(Wish::none);
  if (!fresh.isEmpty()) Q_EMIT submittedAnew(fresh);
}

void RunDoubt::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.colour(Colour::warningSoft));
  painter.drawRoundedRect(rect(), theme.radius(Radius::chip), theme.radius(Radius::chip));
}

}  // namespace loom
