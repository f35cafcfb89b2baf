#include "widgets/chart/scatter_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr double kLeft = 56, kTop = 14, kRight = 16, kBottom = 46, kInset = 8;
constexpr double kDot = 3.5, kSmallDot = 2, kHit = 8, kScatterDragFrom = 3;
constexpr std::size_t kManyDots = 200;  // dots from which they are small

}  // namespace

ScatterPlot::ScatterPlot(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setProperty("focusRadius", 4);
  connect(&Theme::of(this), &Theme::changed, this, [this] {
    m_picture = {};
    update();
  });
}

void ScatterPlot::setContent(const std::vector<ParallelAxes::Axis>& axes, ParallelLines lines, std::size_t x,
                             std::size_t y) {
  m_axes = axes;
  m_lines = std::move(lines);
  m_places.clear();
  const auto axis = [&](std::size_t which) {
    std::vector<const AxisValue*> values;
    for (const ParallelLine& line : *m_lines) values.push_back(&line.values[which]);
    return which < axes.size() ? ValueAxis(axes[which].key, axes[which].title, values) : ValueAxis();
  };
  m_x = axis(x);
  m_y = axis(y);
  for (const ParallelLine& line : *m_lines)
    m_places.emplace_back(m_x.height(line.values[x]), m_y.height(line.values[y]));
  setAccessibleName(tr("%1 against %2").arg(m_y.title(), m_x.title()));
  refreshInside();
}

void ScatterPlot::setBrushes(std::vector<AxisBrush> brushes) {
  if (brushes == m_brushes) return;
  m_brushes = std::move(brushes);
  refreshInside();
}

void ScatterPlot::refreshInside() {
  m_inside.assign(lines().size(), 1);
  for (std::size_t line = 0; line < lines().size(); ++line)
    m_inside[line] = std::all_of(m_brushes.begin(), m_brushes.end(), [&](const AxisBrush& brush) {
      for (std::size_t axis = 0; axis < m_axes.size(); ++axis)
        if (m_axes[axis].key == brush.axis) return brush.accepts(lines()[line].values[axis]);
      return true;
    });
  m_picture = {};
  update();
}

void ScatterPlot::setHighlighted(const QString& id) {
  if (id == m_highlighted) return;
  m_highlighted = id;
  update();
}

QRectF ScatterPlot::plot() const {
  return QRectF(rect()).adjusted(kLeft, kTop, -kRight, -kBottom);
}

QPointF ScatterPlot::dot(std::size_t line) const {
  const QRectF inner = plot().adjusted(kInset, kInset, -kInset, -kInset);
  return {inner.left() + m_places[line].x() * inner.width(), inner.bottom() - m_places[line].y() * inner.height()};
}

// Grey ones first, then by shade: the best lies on top.
void ScatterPlot::render() {
  const double ratio = devicePixelRatioF();
  m_picture = QImage(size() * ratio, QImage::Format_ARGB32_Premultiplied);
  m_picture.setDevicePixelRatio(ratio);
  m_picture.fill(Qt::transparent);
  const Theme& theme = Theme::of(this);
  std::vector<std::size_t> order(lines().size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(m_inside[a], lines()[a].shade.value_or(0)) < std::pair(m_inside[b], lines()[b].shade.value_or(0));
  });
  QPainter painter(&m_picture);
  const bool small = lines().size() > kManyDots;
  painter.setRenderHint(QPainter::Antialiasing, !small);
  for (const std::size_t line : order) {
    const QColor colour = !m_inside[line]       ? theme.colour(Colour::axis, 0.35)
                          : lines()[line].shade ? shadeColour(*this, *lines()[line].shade)
                                                : theme.curveColour(lines()[line].colour);
    const QPointF at = dot(line);
    if (small) {
      painter.fillRect(QRectF(at.x() - kSmallDot, at.y() - kSmallDot, 2 * kSmallDot, 2 * kSmallDot), colour);
      continue;
    }
    painter.setPen(QPen(theme.colour(Colour::surface), 1));
    painter.setBrush(colour);
    painter.drawEllipse(at, kDot, kDot);
  }
}

void ScatterPlot::paintNumbers(QPainter& painter) const {
  const Theme& theme = Theme::of(this);
  const QRectF frame = plot(), inner = frame.adjusted(kInset, kInset, -kInset, -kInset);
  painter.setFont(theme.numberFont(FontRole::axis));
  const QFontMetricsF metrics(painter.font());
  painter.setPen(theme.colour(Colour::text3));
  double last = 1e9;
  for (const auto& [at, text] : m_y.labels()) {
    const double y = inner.bottom() - at * inner.height();
    if (last - y < metrics.height() * 1.6) continue;
    last = y;
    painter.drawText(QRectF(0, y - 9, frame.left() - 6, 18), Qt::AlignRight | Qt::AlignVCenter,
                     metrics.elidedText(text, Qt::ElideMiddle, frame.left() - 8));
  }
  double right = -1e9;
  for (const auto& [at, text] : m_x.labels()) {
    const double x = inner.left() + at * inner.width(), half = metrics.horizontalAdvance(text) / 2;
    if (x - half < right + 10 || x + half > width()) continue;
    right = x + half;
    painter.drawText(QRectF(x - half - 1, frame.bottom() + 5, 2 * half + 2, 16), Qt::AlignCenter, text);
  }
  painter.setFont(theme.font(FontRole::axis));
  painter.drawText(QRectF(frame.left(), frame.bottom() + 22, frame.width(), 18), Qt::AlignCenter, m_x.title());
}

void ScatterPlot::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  if (lines().empty() || plot().height() < 20) return;
  const QRectF frame = plot();
  painter.setPen(theme.hairline(Colour::axis));
  painter.drawLine(QPointF(frame.left(), std::floor(frame.bottom()) + 0.5),
                   QPointF(frame.right(), std::floor(frame.bottom()) + 0.5));
  painter.drawLine(QPointF(std::floor(frame.left()) + 0.5, frame.top()),
                   QPointF(std::floor(frame.left()) + 0.5, frame.bottom()));
  paintNumbers(painter);
  // The ranges that are brushed: where both are, a rectangle.
  const QRectF inner = frame.adjusted(kInset, kInset, -kInset, -kInset);
  QRectF box = frame;
  bool any = false;
  for (const AxisBrush& brush : m_brushes) {
    if (const auto range = brush.axis == m_x.key() ? m_x.range(brush) : std::nullopt) {
      box.setLeft(inner.left() + range->first * inner.width() - kDot);
      box.setRight(inner.left() + range->second * inner.width() + kDot);
      any = true;
    }
    if (const auto range = brush.axis == m_y.key() ? m_y.range(brush) : std::nullopt) {
      box.setTop(inner.bottom() - range->second * inner.height() - kDot);
      box.setBottom(inner.bottom() - range->first * inner.height() + kDot);
      any = true;
    }
  }
  if (any) {
    painter.setPen(QPen(theme.colour(Colour::accent), 1));
    painter.setBrush(theme.colour(Colour::accent, 0.1));
    painter.drawRect(box);
  }
  if (m_picture.size() != size() * devicePixelRatioF()) render();
  painter.drawImage(QPointF(), m_picture);
  painter.setRenderHint(QPainter::Antialiasing);
  for (std::size_t line = 0; line < lines().size(); ++line) {
    if (lines()[line].id != m_highlighted) continue;
    painter.setPen(QPen(theme.colour(Colour::text), 1.5));
    painter.setBrush(lines()[line].shade ? shadeColour(*this, *lines()[line].shade)
                                         : theme.curveColour(lines()[line].colour));
    painter.drawEllipse(dot(line), kDot + 2, kDot + 2);
  }
}

void ScatterPlot::resizeEvent(QResizeEvent*) {
  m_picture = {};
}

QString ScatterPlot::dotAt(const QPointF& at) const {
  QString found;
  double nearest = kHit;
  for (std::size_t line = 0; line < lines().size(); ++line) {
    const QPointF away = dot(line) - at;
    const double distance = std::hypot(away.x(), away.y());
    if (!m_inside[line] || distance >= nearest) continue;
    nearest = distance;
    found = lines()[line].id;
  }
  return found;
}

void ScatterPlot::setOwnBrushes(const std::vector<std::optional<AxisBrush>>& own) {
  std::vector<AxisBrush> all;
  for (const AxisBrush& each : m_brushes)
    if (each.axis != m_x.key() && each.axis != m_y.key()) all.push_back(each);
  for (const auto& each : own)
    if (each) all.push_back(*each);
  if (all == m_brushes) return;
  setBrushes(all);
  Q_EMIT brushed(m_brushes);
}

void ScatterPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !plot().adjusted(-4, -4, 4, 4).contains(event->position())) return;
  m_pressed = event->position();
  m_dragged = false;
}

void ScatterPlot::mouseMoveEvent(QMouseEvent* event) {
  if (m_pressed && (event->buttons() & Qt::LeftButton)) {
    const QPointF way = event->position() - *m_pressed;
    m_dragged = m_dragged || std::hypot(way.x(), way.y()) > kScatterDragFrom;
    if (!m_dragged) return;
    const QRectF inner = plot().adjusted(kInset, kInset, -kInset, -kInset);
    const auto across = [&](double x) { return (x - inner.left()) / std::max(1.0, inner.width()); };
    const auto up = [&](double y) { return (inner.bottom() - y) / std::max(1.0, inner.height()); };
    const auto x = m_x.brush(across(m_pressed->x()), across(event->position().x()));
    const auto y = m_y.brush(up(m_pressed->y()), up(event->position().y()));
    if (x && y) setOwnBrushes({x, y});
    return;
  }
  const QString id = dotAt(event->position());
  if (id == m_hovered) return;
  m_hovered = id;
  Q_EMIT lineHovered(id);
}

void ScatterPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (m_pressed && !m_dragged)
    if (const QString id = dotAt(event->position()); !id.isEmpty()) Q_EMIT lineClicked(id);
  m_pressed.reset();
}

void ScatterPlot::mouseDoubleClickEvent(QMouseEvent*) {
  m_pressed.reset();
  setOwnBrushes({});
}

void ScatterPlot::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Escape || m_brushes.empty()) return QWidget::keyPressEvent(event);
  setBrushes({});
  Q_EMIT brushed(m_brushes);
}

void ScatterPlot::leaveEvent(QEvent*) {
  if (m_hovered.isEmpty()) return;
  m_hovered.clear();
  Q_EMIT lineHovered({});
}

}  // namespace loom
