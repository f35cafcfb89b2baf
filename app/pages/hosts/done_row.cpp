#include "app/pages/hosts/done_row.h"

#include <QDateTime>
#include <QPainter>

#include "app/run_display.h"
#include "widgets/theme/theme.h"

namespace loom {

DoneRow::DoneRow(RunRecord run, QString reached, QWidget* parent)
    : QAbstractButton(parent), m_run(std::move(run)), m_reached(std::move(reached)) {
  setCursor(Qt::PointingHandCursor);
  setFocusPolicy(Qt::TabFocus);
  setText(m_run.name);
  setAccessibleName(QStringLiteral("%1: %2").arg(m_run.name, words()));
  setToolTip(m_run.message.isEmpty() ? words() : m_run.message);
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

QString DoneRow::words() const {
  if (m_run.state == RunState::failed && !m_run.message.isEmpty()) return m_run.message;
  QStringList parts;
  if (m_run.state != RunState::finished) parts << toText(m_run.state).toLower();
  if (!m_reached.isEmpty()) parts << m_reached;
  if (m_run.duration > 0) parts << formatDuration(m_run.duration, true);
  return parts.join(", ");
}

void DoneRow::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  if (underMouse()) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(Colour::hover));
    painter.drawRoundedRect(rect().adjusted(-4, 1, 4, -1), theme.radius(Radius::chip), theme.radius(Radius::chip));
  }
  const Status status = statusOf(m_run.state);
  paintStatus(painter, status, QRectF(0, height() / 2.0 - 7, 14, 14), theme.colour(statusColour(status)));
  const QString clock = QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(m_run.ended * 1000)).toString("HH:mm");
  painter.setFont(theme.numberFont(FontRole::label));
  painter.setPen(theme.colour(Colour::text3));
  const int right = width() - painter.fontMetrics().horizontalAdvance("00:00") - 12;
  painter.drawText(rect(), Qt::AlignVCenter | Qt::AlignRight, clock);
  painter.setFont(Theme::withWeight(theme.font(FontRole::body), 500));
  painter.setPen(theme.colour(Colour::text));
  const int name = right * 9 / 20;
  painter.drawText(QRect(22, 0, name - 26, height()), Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(m_run.name, Qt::ElideMiddle, name - 26));
  painter.setFont(theme.font(FontRole::label));
  painter.setPen(theme.colour(Colour::text2));
  painter.drawText(QRect(name, 0, right - name, height()), Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(words(), Qt::ElideRight, right - name));
}

}  // namespace loom
