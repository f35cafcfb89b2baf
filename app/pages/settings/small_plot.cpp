#include "app/pages/settings/small_plot.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "widgets/chart/format.h"
#include "widgets/chart/ticks.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr int kPlotLeft = 44, kPlotRight = 12, kPlotTop = 8, kPlotBottom = 22;

}  // namespace

SmallPlot::SmallPlot(const QString& name, QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setAccessibleName(name);
  connect(&Theme::of(this), &Theme::changed, this, [this] { update(); });
}

void SmallPlot::setCurve(std::vector<QPointF> points, std::vector<QPointF> raw) {
  const auto unseen = [](const QPointF& at) { return !std::isfinite(at.y()) || !(at.x() > 0); };
  std::erase_if(points, unseen);
  std::erase_if(raw, unseen);
  m_points = std::move(points);
  m_raw = std::move(raw);
  m_pointed = -1;
  update();
}

void SmallPlot::setMarks(std::vector<Mark> marks) {
  m_marks = std::move(marks);
  update();
}

void SmallPlot::setBands(std::vector<Band> bands) {
  m_bands = std::move(bands);
  update();
}

void SmallPlot::setRange(double low, double high) {
  m_range = {low, high};
}

void SmallPlot::setHeight(double low, double high) {
  m_height = {low, high};
}

QRectF SmallPlot::frame() const {
  return QRectF(kPlotLeft, kPlotTop, width() - kPlotLeft - kPlotRight, height() - kPlotTop - kPlotBottom);
}

double SmallPlot::xOf(double value) const {
  double low = 1, high = 10;
  if (m_range)
    std::tie(low, high) = *m_range;
  else if (!m_points.empty())
    low = m_points.front().x(), high = std::max(m_points.back().x(), m_points.front().x() * 2);
  return frame().left() + frame().width() * std::log(value / low) / std::log(high / low);
}

void SmallPlot::mouseMoveEvent(QMouseEvent* event) {
  int nearest = -1;
  double distance = 24;  // px
  for (std::size_t i = 0; i < m_points.size(); ++i)
    if (const double away = std::abs(xOf(m_points[i].x()) - event->position().x()); away < distance)
      nearest = static_cast<int>(i), distance = away;
  if (nearest == m_pointed) return;
  m_pointed = nearest;
  Q_EMIT pointed(nearest);
  update();
}

void SmallPlot::leaveEvent(QEvent*) {
  m_pointed = -1;
  Q_EMIT pointed(-1);
  update();
}

void SmallPlot::paintBands(QPainter& painter, const QRectF& area) const {
  const Theme& theme = Theme::of(this);
  painter.setFont(theme.font(FontRole::axis));
  const double high = painter.fontMetrics().height();
  for (std::size_t i = 0; i < m_bands.size(); ++i) {
    const double left = std::max(area.left(), xOf(m_bands[i].from));
    const double right = i + 1 < m_bands.size() ? std::min(area.right(), xOf(m_bands[i + 1].from)) : area.right();
    if (i > 0) {
      painter.setPen(theme.hairline(Colour::axis));
      painter.drawLine(QPointF(std::round(left) + 0.5, area.bottom() - high - 4),
                       QPointF(std::round(left) + 0.5, area.bottom()));
    }
    const QRectF room(left + 3, area.bottom() - high - 2, right - left - 6, high);
    if (painter.fontMetrics().horizontalAdvance(m_bands[i].name) > room.width()) continue;
    painter.setPen(theme.colour(Colour::text2));
    painter.drawText(room, Qt::AlignCenter, m_bands[i].name);
  }
}

void SmallPlot::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF area = frame();
  if (area.width() < 40 || area.height() < 30) return;
  std::vector<double> heights;
  for (const QPointF& point : m_points) heights.push_back(point.y());
  Interval y = m_height ? Interval{m_height->first, m_height->second} : Interval{0, 1};
  if (!m_height && !heights.empty()) y = niceRange(robustRange(heights), 4);
  const auto yOf = [&](double value) {
    return area.bottom() - area.height() * std::clamp((value - y.low) / y.span(), -0.05, 1.05);
  };
  painter.setPen(theme.hairline(Colour::axis));
  painter.drawLine(QPointF(area.left(), std::round(area.bottom()) + 0.5),
                   QPointF(area.right(), std::round(area.bottom()) + 0.5));
  if (m_points.empty()) {
    painter.setFont(theme.font(FontRole::body));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(area, Qt::AlignCenter | Qt::TextWordWrap, m_empty);
    return;
  }
  const Ticks vertical = linearTicks(y, 4);
  painter.setFont(theme.numberFont(FontRole::axis));
  for (const double value : vertical.values) {
    const double at = std::round(yOf(value)) + 0.5;
    painter.setPen(theme.hairline(Colour::grid));
    painter.drawLine(QPointF(area.left(), at), QPointF(area.right(), at));
    painter.setPen(theme.colour(Colour::text3));
    painter.drawText(QRectF(0, at - 9, kPlotLeft - 8, 18), Qt::AlignRight | Qt::AlignVCenter,
                     tickLabel(value, vertical));
  }
  const Interval x = m_range ? Interval{m_range->first, m_range->second}
                             : Interval{m_points.front().x(), std::max(m_points.back().x(), 2 * m_points.front().x())};
  const int room = std::max(2, static_cast<int>(area.width() / 52));
  for (const double value : logTicks(x, room).values) {
    const double at = xOf(value);
    if (at < area.left() - 1 || at > area.right() + 1) continue;
    painter.setPen(theme.hairline(Colour::grid));
    painter.drawLine(QPointF(std::round(at) + 0.5, area.top()), QPointF(std::round(at) + 0.5, area.bottom()));
    painter.setPen(theme.colour(Colour::text3));
    const double left = std::clamp(at - 30, 0.0, width() - 60.0);
    painter.drawText(QRectF(left, area.bottom() + 3, 60, 16), Qt::AlignCenter,
                     value < 1 ? formatRate(value) : formatShort(value));
  }
  paintBands(painter, area);
  painter.setClipRect(area.adjusted(-2, -4, 2, 2));
  const auto draw = [&](const std::vector<QPointF>& points, const QPen& pen) {
    QPainterPath path;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const QPointF at(xOf(points[i].x()), yOf(points[i].y()));
      if (i == 0)
        path.moveTo(at);
      else
        path.lineTo(at);
    }
    painter.setPen(pen);
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(path);
  };
  QColor faint = theme.curveColour(0);
  faint.setAlphaF(0.3F);
  draw(m_raw, QPen(faint, 1));
  draw(m_points, QPen(theme.curveColour(0), 1.75, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  const auto dot = [&](const QPointF& point) {
    painter.setPen(QPen(theme.colour(Colour::surface), 1.5));
    painter.setBrush(theme.curveColour(0));
    painter.drawEllipse(QPointF(xOf(point.x()), yOf(point.y())), 4, 4);
  };
  for (const Mark& mark : m_marks) {
    QPen dashed(theme.colour(mark.dot ? Colour::accentText : Colour::text3), 1.2);
    dashed.setDashPattern({3, 3});
    painter.setPen(dashed);
    painter.drawLine(QPointF(xOf(mark.x), area.top()), QPointF(xOf(mark.x), area.bottom()));
    if (!mark.dot) continue;
    const auto nearest = std::min_element(m_points.begin(), m_points.end(), [&](const QPointF& a, const QPointF& b) {
      return std::abs(std::log(a.x() / mark.x)) < std::abs(std::log(b.x() / mark.x));
    });
    dot(*nearest);
  }
  if (m_pointed >= 0 && m_pointed < static_cast<int>(m_points.size()))
    dot(m_points[static_cast<std::size_t>(m_pointed)]);
}

}  // namespace loom
