#include "widgets/evaluation/plot_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/chart/format.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr double kPointSize = 3, kNear = 7;
constexpr int kMostTicks = 5;

// As many as have room beside each other.
Ticks ticksThatFit(Interval range, double width, const QFontMetricsF& metrics) {
  Ticks ticks = linearTicks(range, kMostTicks);
  const auto needed = [&] {
    double widest = 0;
    for (const double each : ticks.values) widest = std::max(widest, metrics.horizontalAdvance(tickLabel(each, ticks)));
    return (widest + 12) * static_cast<double>(ticks.values.size());
  };
  for (std::size_t step = 2; needed() > width + 20 && ticks.values.size() > 2; ++step) {
    const Ticks all = linearTicks(range, kMostTicks);
    ticks.values.clear();
    for (std::size_t i = 0; i < all.values.size(); i += step) ticks.values.push_back(all.values[i]);
  }
  return ticks;
}

}  // namespace

PlotView::PlotView(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  connect(&Theme::of(this), &Theme::changed, this, [this] { update(); });
}

void PlotView::setPlot(Plot plot) {
  m_plot = std::move(plot);
  setAccessibleName(m_plot.title + ' ' + m_plot.subtitle);
  update();
}

QRectF PlotView::area(const QSizeF& size) const {
  const Theme& theme = Theme::of(this);
  const QFontMetricsF numbers(theme.numberFont(FontRole::axis)), heading(theme.font(FontRole::heading));
  const Ticks y = linearTicks(m_plot.y, kMostTicks);
  double left = 0;
  for (const double each : y.values) left = std::max(left, numbers.horizontalAdvance(tickLabel(each, y)));
  const double top =
      (m_plot.title.isEmpty() ? 4 : heading.height() + 10) + (m_plot.yName.isEmpty() ? 0 : 1.5 * numbers.height());
  const double bottom = numbers.height() * (m_plot.xName.isEmpty() ? 1 : 2) + 8;
  return QRectF(left + 8, top, size.width() - left - 18, size.height() - top - bottom);
}

QPointF PlotView::place(const QRectF& area, const QPointF& value) const {
  return {area.left() + (value.x() - m_plot.x.low) / m_plot.x.span() * area.width(),
          area.bottom() - (value.y() - m_plot.y.low) / m_plot.y.span() * area.height()};
}

QPointF PlotView::placeOf(const QPointF& value) const {
  return place(area(size()), value);
}

void PlotView::paintAxes(QPainter& painter, const QRectF& area) const {
  const Theme& theme = Theme::of(this);
  const QFont numbers = theme.numberFont(FontRole::axis), words = theme.font(FontRole::axis);
  const QFontMetricsF metrics(numbers);
  painter.setFont(numbers);
  const Ticks y = linearTicks(m_plot.y, kMostTicks), x = ticksThatFit(m_plot.x, area.width(), metrics);
  for (const double each : y.values) {
    const double at = place(area, {m_plot.x.low, each}).y();
    painter.setPen(theme.hairline(Colour::grid));
    painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(QRectF(0, at - metrics.height() / 2, area.left() - 6, metrics.height()),
                     Qt::AlignRight | Qt::AlignVCenter, tickLabel(each, y));
  }
  for (const double each : x.values) {
    const double at = place(area, {each, m_plot.y.low}).x();
    const QString text = tickLabel(each, x);
    const double wide = metrics.horizontalAdvance(text);
    const double left = std::clamp(at - wide / 2, area.left() - wide / 2, area.right() + 8 - wide);
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(QRectF(left, area.bottom() + 4, wide + 1, metrics.height()), Qt::AlignCenter, text);
  }
  painter.setPen(theme.hairline(Colour::axis));
  painter.drawLine(area.bottomLeft(), area.bottomRight());
  painter.setFont(words);
  painter.setPen(theme.colour(Colour::text3));
  if (!m_plot.xName.isEmpty())
    painter.drawText(QRectF(area.left(), area.bottom() + 4 + metrics.height(), area.width(), metrics.height() + 2),
                     Qt::AlignRight | Qt::AlignVCenter, m_plot.xName);
  if (!m_plot.yName.isEmpty())
    painter.drawText(QRectF(0, area.top() - 1.5 * metrics.height() - 5, area.right(), metrics.height() + 2),
                     Qt::AlignLeft | Qt::AlignVCenter, m_plot.yName);
}

void PlotView::paintData(QPainter& painter, const QRectF& area) const {
  const Theme& theme = Theme::of(this);
  painter.save();
  painter.setClipRect(area.adjusted(-2, -2, 2, 1));
  for (const Plot::Bar& bar : m_plot.bars) {
    const QPointF from = place(area, {bar.from, bar.value}), to = place(area, {bar.to, 0});
    painter.setPen(Qt::NoPen);
    if (bar.claimed > bar.value) {
      painter.setBrush(theme.colour(Colour::warning, 0.4));
      painter.drawRect(QRectF(QPointF(from.x() + 1, place(area, {0, bar.claimed}).y()), QPointF(to.x() - 1, from.y())));
    }
    painter.setBrush(theme.curveColour(0));
    painter.drawRect(QRectF(QPointF(from.x() + 1, from.y()), QPointF(to.x() - 1, to.y())));
  }
  if (m_plot.diagonal) {
    painter.setPen(QPen(theme.colour(Colour::text3), 1, Qt::DashLine));
    const double low = std::max(m_plot.x.low, m_plot.y.low), high = std::min(m_plot.x.high, m_plot.y.high);
    painter.drawLine(place(area, {low, low}), place(area, {high, high}));
  }
  if (m_plot.zero) {
    painter.setPen(QPen(theme.colour(Colour::axis), 1));
    painter.drawLine(place(area, {m_plot.x.low, 0}), place(area, {m_plot.x.high, 0}));
  }
  for (const Plot::Line& line : m_plot.lines) {
    QPolygonF drawn;
    for (const QPointF& each : line.points) drawn << place(area, each);
    painter.setPen(QPen(theme.curveColour(line.colour), line.strong ? 2.75 : 1.5));
    painter.setBrush(Qt::NoBrush);
    painter.drawPolyline(drawn);
  }
  QColor dot = theme.curveColour(0);
  dot.setAlphaF(m_plot.points.size() > 500 ? 0.35F : 0.7F);
  painter.setPen(Qt::NoPen);
  painter.setBrush(dot);
  for (const QPointF& each : m_plot.points) painter.drawEllipse(place(area, each), kPointSize, kPointSize);
  painter.restore();
}

void PlotView::paintOn(QPainter& painter, const QSizeF& size) const {
  const Theme& theme = Theme::of(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF area = this->area(size);
  const QFont heading = Theme::withWeight(theme.font(FontRole::heading), 600);
  painter.setFont(heading);
  painter.setPen(theme.colour(Colour::text));
  const QFontMetricsF metrics(heading);
  painter.drawText(QPointF(0, metrics.ascent()), m_plot.title);
  painter.setFont(theme.font(FontRole::caption));
  painter.setPen(theme.colour(Colour::text3));
  const double used = metrics.horizontalAdvance(m_plot.title) + 10;
  const QFontMetricsF caption(painter.font());
  painter.drawText(QPointF(used, metrics.ascent()),
                   caption.elidedText(m_plot.subtitle, Qt::ElideRight, size.width() - used));
  if (m_plot.isEmpty()) {
    painter.drawText(QRectF(QPointF(0, area.top()), QSizeF(size.width(), area.height())),
                     Qt::AlignCenter | Qt::TextWordWrap, m_plot.empty);
    return;
  }
  paintAxes(painter, area);
  paintData(painter, area);
}

void PlotView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintOn(painter, size());
}

QImage PlotView::toImage(QSize size, double ratio) const {
  constexpr int kEdge = 12;
  const Theme::LightColours light(Theme::of(this));
  QImage image((size + QSize(2 * kEdge, 2 * kEdge)) * ratio, QImage::Format_ARGB32_Premultiplied);
  image.setDevicePixelRatio(ratio);
  image.fill(Theme::of(this).colour(Colour::surface));
  QPainter painter(&image);
  painter.translate(kEdge, kEdge);
  paintOn(painter, size);
  return image;
}

int PlotView::pointNear(const QPointF& position) const {
  const QRectF where = area(size());
  int best = -1;
  double least = kNear * kNear;
  for (int i = 0; i < m_plot.points.size(); ++i) {
    const QPointF apart = place(where, m_plot.points[i]) - position;
    const double far = QPointF::dotProduct(apart, apart);
    if (far < least) least = far, best = i;
  }
  return best;
}

QString PlotView::wordsAt(const QPointF& position) const {
  const QRectF where = area(size());
  if (!where.adjusted(-4, -4, 4, 4).contains(position)) return {};
  const double x = m_plot.x.low + (position.x() - where.left()) / where.width() * m_plot.x.span();
  for (const Plot::Bar& bar : m_plot.bars)
    if (x >= bar.from && x < bar.to) return bar.words;
  if (const int point = pointNear(position); point >= 0)
    return tr("%1 %2\n%3 %4")
        .arg(m_plot.xName, formatShort(m_plot.points[point].x()), m_plot.yName, formatShort(m_plot.points[point].y()));
  QString words;
  double least = 12;
  for (const Plot::Line& line : m_plot.lines)
    for (const QPointF& each : line.points) {
      const QPointF apart = place(where, each) - position;
      const double far = std::hypot(apart.x(), apart.y());
      if (far >= least) continue;
      least = far;
      words = tr("%1\n%2 %3, %4 %5")
                  .arg(line.name, m_plot.xName, formatFixed(each.x(), 3), m_plot.yName, formatFixed(each.y(), 3));
    }
  return words;
}

void PlotView::mouseMoveEvent(QMouseEvent* event) {
  const QString words = wordsAt(event->position());
  if (words.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(event->globalPosition().toPoint(), words, this);
}

void PlotView::mousePressEvent(QMouseEvent* event) {
  if (const int point = pointNear(event->position()); event->button() == Qt::LeftButton && point >= 0)
    Q_EMIT pointClicked(point);
}

}  // namespace loom
