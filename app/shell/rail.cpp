#include "app/shell/rail.h"

#include <QPainter>
#include <QVBoxLayout>

#include "app/pages/page_table.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/kept.h"
#include "widgets/theme/theme.h"

namespace loom {

RailButton::RailButton(const QString& iconName, const QString& text, QWidget* parent)
    : QAbstractButton(parent), m_icon(iconName) {
  setText(text);
  setAccessibleName(text);
  setCheckable(true);
  setFocusPolicy(Qt::TabFocus);
  setCursor(Qt::PointingHandCursor);
}

void RailButton::setMark(Mark mark) {
  if (mark == m_mark) return;
  m_mark = mark;
  update();
}

void RailButton::setNarrow(bool narrow) {
  m_narrow = narrow;
  updateGeometry();
}

QSize RailButton::sizeHint() const {
  const Theme& theme = Theme::of(this);
  return m_narrow ? QSize(theme.size(Size::railNarrow), 44) : QSize(theme.size(Size::rail), text().isEmpty() ? 38 : 60);
}

void RailButton::enterEvent(QEnterEvent*) {
  update();
}
void RailButton::leaveEvent(QEvent*) {
  update();
}

void RailButton::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF frame = QRectF(rect()).adjusted(8, 2, -8, -2);
  const bool active = isChecked() && isEnabled();
  if (active || (underMouse() && isEnabled())) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(active ? Colour::selected : Colour::hover));
    painter.drawRoundedRect(frame, theme.radius(Radius::node), theme.radius(Radius::node));
  }
  if (active) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(Colour::accent));
    painter.drawRoundedRect(QRectF(-2, height() / 2.0 - 12, 5, 24), 2, 2);
  }
  const QColor ink = theme.colour(!isEnabled() ? Colour::disabled : active ? Colour::accentText : Colour::text2);
  const int icon = theme.size(Size::iconRail);
  const bool alone = m_narrow || text().isEmpty();
  const QRectF place(width() / 2.0 - icon / 2.0, alone ? height() / 2.0 - icon / 2.0 : 11, icon, icon);
  paintIcon(painter, m_icon, place, ink);
  if (m_mark != Mark::none) {
    painter.setPen(QPen(theme.colour(active ? Colour::selected : Colour::surface), 1.5));
    painter.setBrush(theme.colour(m_mark == Mark::live ? Colour::accent : Colour::error));
    painter.drawEllipse(place.topRight() + QPointF(4, 0), 4, 4);
  }
  if (alone) return;
  painter.setPen(ink);
  QFont font = theme.font(FontRole::axis);
  painter.setFont(Theme::withWeight(font, active ? 600 : 500));
  painter.drawText(QRectF(0, place.bottom() + 3, width(), 18), Qt::AlignCenter, text());
}

Rail::Rail(QWidget* parent) : QFrame(parent) {
  setProperty("kind", "panel");
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 8, 0, 8);
  column->setSpacing(0);
  for (const PageEntry& page : pageTable()) {
    if (!page.onRail) continue;
    auto* button = new RailButton(page.icon, tr(page.name), this);
    button->setToolTip(tr("%1 (%2)").arg(tr(page.name), QString::fromLatin1(page.shortcut)));
    button->setObjectName(QStringLiteral("rail-") + page.id);
    const QString id = QString::fromLatin1(page.id);
    connect(button, &RailButton::clicked, this, [this, id] { Q_EMIT pageWanted(id); });
    m_buttons.insert(id, button);
    column->addWidget(button);
  }
  column->addStretch();
  m_help = new RailButton("help", {}, this);
  m_help->setAccessibleName(tr("Shortcuts and help"));
  m_help->setToolTip(tr("All shortcuts (?)"));
  m_preferences = new RailButton("sun", {}, this);
  m_preferences->setAccessibleName(tr("Preferences"));
  m_preferences->setToolTip(tr("Preferences (Ctrl+,)"));
  for (RailButton* each : {m_help, m_preferences}) {
    each->setCheckable(false);
    column->addWidget(each);
  }
  connect(m_help, &RailButton::clicked, this, &Rail::helpWanted);
  connect(m_preferences, &RailButton::clicked, this, &Rail::preferencesWanted);
}

void Rail::setCurrent(const QString& page) {
  for (auto each = m_buttons.begin(); each != m_buttons.end(); ++each) each.value()->setChecked(each.key() == page);
}

void Rail::setMark(const QString& page, RailButton::Mark mark) {
  if (RailButton* const found = button(page)) found->setMark(mark);
}

void Rail::setEnabledPages(bool projectOpen) {
  for (const PageEntry& page : pageTable())
    if (RailButton* const found = button(QString::fromLatin1(page.id)))
      found->setEnabled(projectOpen || !page.needsProject);
}

void Rail::setNarrow(bool narrow) {
  keepWidth(this, narrow ? Size::railNarrow : Size::rail);
  for (RailButton* each : findChildren<RailButton*>()) each->setNarrow(narrow);
}

}  // namespace loom
