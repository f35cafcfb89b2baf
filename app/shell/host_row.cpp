#include "app/shell/host_row.h"

#include <QKeyEvent>
#include <QPainter>

#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {

HostRow::HostRow(const QString& name, const QString& ranks, HostSign sign, QWidget* parent)
    : QAbstractButton(parent), m_ranks(ranks), m_sign(std::move(sign)) {
  setText(name);
  setCheckable(true);
  setAutoExclusive(true);
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName(QStringLiteral("%1, %2, %3").arg(name, m_ranks, m_sign.words));
  setToolTip(m_sign.words);
}

void HostRow::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
      return click();
    // The arrows look at the next row, and choose nothing yet.
    case Qt::Key_Down:
      focusNextChild();
      return;
    case Qt::Key_Up:
      focusPreviousChild();
      return;
    default:
      QAbstractButton::keyPressEvent(event);
  }
}

void HostRow::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  if (isChecked() || underMouse() || hasFocus()) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(isChecked() ? Colour::selected : Colour::hover));
    painter.drawRoundedRect(rect(), theme.radius(Radius::chip), theme.radius(Radius::chip));
  }
  if (isChecked()) paintIcon(painter, "check", QRectF(8, 14, 16, 16), theme.colour(Colour::accentText));
  const int left = 32, right = width() - 10;
  const QFont label = theme.font(FontRole::label);
  const int ranks = QFontMetrics(label).horizontalAdvance(m_ranks);
  painter.setFont(label);
  painter.setPen(theme.colour(Colour::text3));
  painter.drawText(QRect(right - ranks, 4, ranks, 18), Qt::AlignVCenter | Qt::AlignRight, m_ranks);
  painter.setFont(theme.font(FontRole::heading));
  painter.setPen(theme.colour(Colour::text));
  const int room = right - ranks - 12 - left;
  painter.drawText(QRect(left, 4, room, 18), Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(text(), Qt::ElideMiddle, room));
  const QColor colour = theme.colour(statusColour(m_sign.status));
  paintStatus(painter, m_sign.status, QRectF(left, 24, 13, 13), colour, 0.12);
  painter.setFont(label);
  painter.setPen(colour);
  painter.drawText(QRect(left + 19, 22, right - left - 19, 17), Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(m_sign.words, Qt::ElideRight, right - left - 19));
}

}  // namespace loom
