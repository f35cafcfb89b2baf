#include "app/shell/top_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QStyleOptionButton>

#include "app/host_checks.h"
#include "app/pages/hosts/host_texts.h"
#include "app/shell/host_button.h"
#include "app/workspace.h"
#include "widgets/controls/button.h"
#include "widgets/controls/search_field.h"
#include "widgets/controls/split_button.h"
#include "widgets/controls/text.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/status.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

// The woven mark in the place of a button's icon; F10 and Alt open its menu too.
class MarkButton : public Button {
 public:
  explicit MarkButton(QWidget* parent) : Button({}, ButtonKind::plain, parent) {}

 protected:
  void paintEvent(QPaintEvent* event) override {
    Button::paintEvent(event);
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    paintMark(painter, QRectF(width() / 2.0 - 14, height() / 2.0 - 14, 28, 28));
  }
};

// The name of the project with a chevron behind it.
class ProjectButton : public Button {
 public:
  explicit ProjectButton(QWidget* parent) : Button({}, ButtonKind::plain, parent) {}
  QSize sizeHint() const override {
    const int name = QFontMetrics(letters()).horizontalAdvance(text()) + 1;
    return {2 * kSide + std::min(name, kMostName) + kGap + kSign, Theme::of(this).size(Size::button)};
  }

 protected:
  void paintEvent(QPaintEvent*) override {
    const Theme& theme = Theme::of(this);
    QPainter painter(this);
    QStyleOptionButton ground;
    initStyleOption(&ground);
    ground.text.clear();
    style()->drawControl(QStyle::CE_PushButton, &ground, &painter, this);
    const QRect words = rect().adjusted(kSide, 0, -kSide - kSign - kGap, 0);
    painter.setFont(letters());
    painter.setPen(theme.colour(isEnabled() ? Colour::text : Colour::disabled));
    painter.drawText(words, Qt::AlignVCenter, painter.fontMetrics().elidedText(text(), Qt::ElideMiddle, words.width()));
    paintIcon(painter, "chevron-down", QRectF(width() - kSide - kSign, height() / 2.0 - 8, kSign, kSign),
              theme.colour(Colour::text2));
  }

 private:
  QFont letters() const { return Theme::withWeight(Theme::of(this).font(FontRole::heading), 600); }
  static constexpr int kSide = 8, kGap = 6, kSign = 16, kMostName = 240;  // a longer one is elided in its middle
};

}  // namespace

LivePill::LivePill(QWidget* parent) : QAbstractButton(parent) {
  setCursor(Qt::PointingHandCursor);
  setFocusPolicy(Qt::TabFocus);
  setObjectName("live-pill");
}

void LivePill::setRun(const QString& name, int percent, bool waiting) {
  m_name = name;
  m_value = percent >= 0 ? tr("%1 %").arg(percent) : QString();
  m_waiting = waiting;
  setAccessibleName(m_name + ' ' + m_value);
  setToolTip(tr("Show %1").arg(name));
  updateGeometry();
  update();
}

QSize LivePill::sizeHint() const {
  const Theme& theme = Theme::of(this);
  const int name = QFontMetrics(Theme::withWeight(theme.font(FontRole::body), 500)).horizontalAdvance(m_name) + 4;
  // Room for "100 %", so that the pill never moves its neighbours.
  const int value = m_value.isEmpty() ? 0 : QFontMetrics(theme.numberFont()).horizontalAdvance("100 %") + 8;
  return {std::min(name, 160) + value + 14 + 8 + 22, theme.size(Size::buttonTop)};
}

void LivePill::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.colour(underMouse() ? Colour::selected : Colour::accentSoft));
  painter.drawRoundedRect(rect(), theme.radius(Radius::button), theme.radius(Radius::button));
  const QColor ink = theme.colour(Colour::accentText);
  paintStatus(painter, m_waiting ? Status::queued : Status::running, QRectF(11, height() / 2.0 - 7, 14, 14), ink, 0.12);
  painter.setPen(ink);
  painter.setFont(Theme::withWeight(theme.font(FontRole::body), 500));
  const int value = m_value.isEmpty() ? 0 : QFontMetrics(theme.numberFont()).horizontalAdvance("100 %") + 8;
  const QRect words(33, 0, width() - 33 - 11 - value, height());
  painter.drawText(words, Qt::AlignVCenter, painter.fontMetrics().elidedText(m_name, Qt::ElideMiddle, words.width()));
  painter.setFont(theme.numberFont());
  painter.drawText(rect().adjusted(0, 0, -11, 0), Qt::AlignVCenter | Qt::AlignRight, m_value);
}

TopBar::TopBar(Workspace& workspace, QMenu& mainMenu, QWidget* parent)
    : QFrame(parent), m_workspace(workspace), m_projectMenu(new QMenu(this)), m_mark(new MarkButton(this)) {
  setProperty("kind", "panel");
  keepHeight(this, Size::topBar);
  keepWidth(m_mark, Size::rail);
  keepHeight(m_mark, Size::topBar, -4);
  m_mark->setMenu(&mainMenu);
  connect(&Theme::of(this), &Theme::changed, this, [this] { resizeEvent(nullptr); });
  m_mark->setAccessibleName(tr("Menu"));
  m_mark->setToolTip(tr("Menu (F10)"));
  m_mark->setObjectName("menu-button");
  m_project = new ProjectButton(this);
  m_project->setObjectName("project-button");
  m_project->setMenu(m_projectMenu);
  m_state = new QLabel(this);
  m_state->setProperty("kind", "hint");
  m_state->setObjectName("save-state");
  m_search = new SearchField(tr("Search layers, settings, runs, commands"), "Ctrl K", this);
  m_search->setAccessibleName(tr("Search"));
  m_search->setObjectName("search");
  m_search->setProperty("kind", "well");
  m_pill = new LivePill(this);
  m_pill->hide();
  m_host = new HostButton(this);
  m_host->setObjectName("host-chooser");
  m_train = new SplitButton("play", tr("Train"), ButtonKind::filled, this);
  m_train->mainPart()->setObjectName("train");
  m_train->mainPart()->setToolTip(tr("Train (Ctrl+Enter)"));
  m_train->menuPart()->setAccessibleName(tr("Other ways to train"));

  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 16, 1);
  row->setSpacing(8);
  row->addWidget(m_mark);
  row->addWidget(m_project);
  row->addWidget(m_state);
  row->addStretch();
  row->addWidget(m_pill);
  row->addWidget(m_host);
  row->addWidget(m_train);
  connect(m_train, &SplitButton::clicked, this, [this] {
    if (m_errors)
      Q_EMIT problemsWanted();
    else
      Q_EMIT trainWanted();
  });
  connect(m_pill, &LivePill::clicked, this, &TopBar::liveRunWanted);
  refreshHost();
  refreshProject();
}

void TopBar::refreshHost() {
  const QString host = m_workspace.host();
  const HostSign sign = m_workspace.checks().sign(host);
  const bool usable = sign.status != Status::failed && sign.status != Status::reconnecting;
  m_host->setHost(m_workspace.hostName(host), host.isEmpty() ? QString() : ranksText(m_workspace.ranks()),
                  usable ? QString() : sign.words);
  resizeEvent(nullptr);
}

// The search stands in the middle of the window where there is room, and gives way where there is none.
void TopBar::resizeEvent(QResizeEvent* event) {
  if (event) QFrame::resizeEvent(event);
  layout()->activate();
  const QWidget* const after = m_pill->isVisible() ? static_cast<QWidget*>(m_pill) : m_host;
  const int from = m_state->geometry().right() + 20, to = after->geometry().left() - 20;
  const int wide = std::min(396, to - from);
  const int high = std::max(30, m_search->sizeHint().height());
  const bool fits = wide >= 200;
  const int left = std::clamp((width() - wide) / 2, from, std::max(from, to - wide));
  // Where it does not fit it waits for Ctrl+K: it then lies over the project's state.
  if (fits)
    m_search->setGeometry(left, (height() - high) / 2, wide, high);
  else if (m_search->hasFocus())
    m_search->setGeometry((width() - 320) / 2, (height() - high) / 2, 320, high);
  m_search->setVisible(fits || m_search->hasFocus());
  m_search->raise();
}

void TopBar::refreshProject() {
  ProjectDocument* const document = m_workspace.document();
  m_project->setText(document ? document->name() : tr("No project"));
  m_project->setAccessibleName(tr("Project %1").arg(m_project->text()));
  m_project->setToolTip(document ? document->path().isEmpty() ? document->name() : document->path() : QString());
  m_state->setText(document ? document->saveStateText() : QString());
  const bool failed = document && document->saveState() == ProjectDocument::SaveState::failed;
  setStyleProperty(m_state, "kind", failed ? "error" : "hint");
  // Why stands once, in the bar below with what can be done.
  m_state->setToolTip(failed ? document->saveProblem() : QString());
  m_train->setEnabled(document != nullptr);
  resizeEvent(nullptr);
}

void TopBar::refreshRuns() {
  int live = 0;
  const RunRecord* newest = nullptr;
  m_workspace.forEachRun([&](const RunRecord& each) {
    if (isLive(each.state)) ++live, newest = &each;
  });
  m_live = live > 0;
  const bool shown = m_pill->isVisibleTo(this);
  const int before = m_pill->sizeHint().width();
  if (live == 1)
    m_pill->setRun(newest->name, newest->stepsTotal ? static_cast<int>(newest->progress() * 100) : -1, false);
  if (live > 1) m_pill->setRun(tr("%1 running").arg(live), -1, false);
  m_pill->setVisible(live > 0);
  if (shown != (live > 0) || before != m_pill->sizeHint().width()) resizeEvent(nullptr);
  refreshTrain();
}

void TopBar::setErrors(int errors) {
  m_errors = errors;
  refreshTrain();
}

void TopBar::refreshTrain() {
  m_train->setText(m_errors == 0 ? tr("Train") : counted(m_errors, tr("errors")));
  m_train->setIconName(m_errors ? "problems" : "play");
  m_train->setKind(m_errors ? ButtonKind::fault : m_live ? ButtonKind::outlined : ButtonKind::filled);
}

void TopBar::setNarrow(bool narrow) {
  keepWidth(m_mark, narrow ? Size::railNarrow : Size::rail);
  m_host->setNarrow(narrow);
  resizeEvent(nullptr);
}

}  // namespace loom
