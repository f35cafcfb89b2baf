#include "widgets/chart/weight_bars.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "widgets/chart/format.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr double kBarsHead = 46, kBarRow = 25, kBar = 8, kNames = 128, kNumber = 48, kBarsLeft = 6;

}  // namespace

WeightBars::WeightBars(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
}

void WeightBars::setTitle(const QString& title, const QString& subtitle) {
  m_title = title;
  m_subtitle = subtitle;
  setAccessibleName(title);
  update();
}

void WeightBars::setBars(std::vector<Bar> bars) {
  m_bars = std::move(bars);
  m_message.clear();
  m_hovered = -1;
  QStringList words;
  for (const Bar& each : m_bars) words << each.title + ' ' + formatPercent(each.share, 0);
  setAccessibleDescription(words.join(", "));
  update();
}

void WeightBars::setMessage(const QString& message) {
  m_bars.clear();
  m_message = message;
  setAccessibleDescription(message);
  update();
}

QRectF WeightBars::row(std::size_t bar) const {
  return {0, kBarsHead + static_cast<double>(bar) * kBarRow, static_cast<double>(width()), kBarRow};
}

int WeightBars::barAt(const QPointF& at) const {
  for (std::size_t bar = 0; bar < m_bars.size(); ++bar)
    if (row(bar).contains(at)) return static_cast<int>(bar);
  return -1;
}

void WeightBars::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setFont(theme.font(FontRole::heading));
  painter.setPen(theme.colour(Colour::text));
  painter.drawText(QRectF(kBarsLeft, 0, width() - kBarsLeft, 20), Qt::AlignLeft | Qt::AlignVCenter, m_title);
  painter.setFont(Theme::withWeight(theme.font(FontRole::label), 400));
  painter.setPen(theme.colour(Colour::text3));
  painter.drawText(QRectF(kBarsLeft, 21, width() - kBarsLeft, 18), Qt::AlignLeft | Qt::AlignVCenter, m_subtitle);
  if (!m_message.isEmpty()) {
    painter.setFont(theme.font(FontRole::body));
    painter.drawText(QRectF(kBarsLeft, kBarsHead, width() - 2 * kBarsLeft, height() - kBarsHead),
                     Qt::AlignTop | Qt::TextWordWrap, m_message);
    return;
  }
  double most = 0;
  for (const Bar& each : m_bars) most = std::max(most, each.share);
  for (std::size_t bar = 0; bar < m_bars.size(); ++bar) {
    const QRectF line = row(bar);
    if (line.bottom() > height()) break;
    if (static_cast<int>(bar) == m_hovered) {
      painter.setPen(Qt::NoPen);
      painter.setBrush(theme.colour(Colour::hover));
      painter.drawRoundedRect(line.adjusted(0, 1, -2, -1), 4, 4);
    }
    painter.setFont(theme.font(FontRole::body));
    painter.setPen(theme.colour(Colour::text));
    painter.drawText(line.adjusted(kBarsLeft, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     QFontMetricsF(painter.font()).elidedText(m_bars[bar].title, Qt::ElideRight, kNames - 8));
    const QRectF track(kBarsLeft + kNames, line.center().y() - kBar / 2,
                       line.width() - kBarsLeft - kNames - kNumber - 6, kBar);
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme.colour(Colour::sunken));
    painter.drawRoundedRect(track, 3, 3);
    QRectF part = track;
    part.setWidth(most > 0 ? std::max(2.0, track.width() * m_bars[bar].share / most) : 0);
    painter.setBrush(theme.colour(Colour::accent));
    painter.drawRoundedRect(part, 3, 3);
    painter.setFont(theme.numberFont(FontRole::body));
    painter.setPen(theme.colour(Colour::text));
    painter.drawText(line.adjusted(0, 0, -6, 0), Qt::AlignRight | Qt::AlignVCenter,
                     formatPercent(m_bars[bar].share, 0));
  }
}

void WeightBars::mouseMoveEvent(QMouseEvent* event) {
  const int bar = barAt(event->position());
  setCursor(bar >= 0 ? Qt::PointingHandCursor : Qt::ArrowCursor);
  if (bar == m_hovered) return;
  m_hovered = bar;
  update();
}

void WeightBars::mousePressEvent(QMouseEvent* event) {
  if (const int bar = barAt(event->position()); event->button() == Qt::LeftButton && bar >= 0)
    Q_EMIT chosen(m_bars[static_cast<std::size_t>(bar)].key);
}

void WeightBars::leaveEvent(QEvent*) {
  m_hovered = -1;
  update();
}

}  // namespace loom
