#include "widgets/chart/parallel_axes.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr double kAbove = 64, kBelow = 46, kBefore = 12,
                 kAfter = 58;                 // title and names above; the foot as beside charts
constexpr double kTitle = 20, kHeadGap = 10;  // between heads and axes
constexpr double kHitWidth = 6, kApart = 1.5;
constexpr double kMostApart = 6;
constexpr double kBrushWidth = 12, kAxisHit = 9, kEdgeHit = 6, kDragFrom = 3;

}  // namespace

ParallelAxes::ParallelAxes(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setProperty("focusRadius", 4);
  connect(&Theme::of(this), &Theme::changed, this, [this] {
    m_picture = {};
    update();
  });
}

void ParallelAxes::setTitle(const QString& title, const QString& subtitle) {
  m_title = title;
  m_subtitle = subtitle;
  setAccessibleName(title);
  update();
}

void ParallelAxes::setContent(const std::vector<Axis>& axes, ParallelLines lines) {
  m_lines = std::move(lines);
  m_axes.clear();
  m_heights.assign(axes.size(), std::vector<double>(this->lines().size(), 0));
  std::vector<const AxisValue*> values(this->lines().size());
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    for (std::size_t line = 0; line < values.size(); ++line) values[line] = &this->lines()[line].values[axis];
    m_axes.emplace_back(axes[axis].key, axes[axis].title, values);
    for (std::size_t line = 0; line < values.size(); ++line) m_heights[axis][line] = m_axes[axis].height(*values[line]);
  }
  if (m_drag && m_drag->axis >= m_axes.size()) m_drag.reset();
  refreshAccepted();
}

std::vector<QString> ParallelAxes::axes() const {
  std::vector<QString> titles;
  for (const ValueAxis& each : m_axes) titles.push_back(each.title());
  return titles;
}

void ParallelAxes::setHighlighted(const QString& id) {
  if (id == m_highlighted) return;
  m_highlighted = id;
  if (lines().size() <= kMany) m_picture = {};
  update();
}

void ParallelAxes::setBrushes(std::vector<AxisBrush> brushes) {
  if (brushes == m_brushes) return;
  m_brushes = std::move(brushes);
  refreshAccepted();
}

bool ParallelAxes::accepts(const ParallelLine& line) const {
  return std::all_of(m_brushes.begin(), m_brushes.end(), [&](const AxisBrush& brush) {
    for (std::size_t axis = 0; axis < m_axes.size(); ++axis)
      if (m_axes[axis].key() == brush.axis) return brush.accepts(line.values[axis]);
    return true;
  });
}

void ParallelAxes::refreshAccepted() {
  m_inside.assign(lines().size(), 1);
  m_accepted = 0;
  for (std::size_t line = 0; line < lines().size(); ++line) {
    m_inside[line] = accepts(lines()[line]);
    m_accepted += m_inside[line];
  }
  m_picture = {};
  update();
}

QRectF ParallelAxes::plot() const {
  return QRectF(rect()).adjusted(kBefore, kAbove, -kAfter, -kBelow);
}

double ParallelAxes::axisX(std::size_t axis) const {
  const QRectF frame = plot();
  return m_axes.size() < 2
             ? frame.left()
             : frame.left() + frame.width() * static_cast<double>(axis) / static_cast<double>(m_axes.size() - 1);
}

// Lines that share a value lie beside each other, not over each other.
QPointF ParallelAxes::crossing(std::size_t line, std::size_t axis) const {
  const QRectF frame = plot();
  double apart = (static_cast<double>(line) - static_cast<double>(lines().size() - 1) / 2) * kApart;
  if (lines().size() > kMany) {
    const double turn = static_cast<double>(line) * 0.61803398875;
    apart = (turn - std::floor(turn) - 0.5) * 2 * kMostApart;
  }
  return {axisX(axis), std::clamp(frame.bottom() - m_heights[axis][line] * frame.height() +
                                      std::clamp(apart, -kMostApart, kMostApart),
                                  frame.top() - kMostApart, frame.bottom() + kMostApart)};
}

void ParallelAxes::paintAxis(QPainter& painter, std::size_t axis) const {
  const Theme& theme = Theme::of(this);
  const QRectF frame = plot();
  const double x = axisX(axis);
  const bool last = axis + 1 == m_axes.size();
  painter.setPen(theme.hairline(Colour::lineStrong));
  painter.drawLine(QPointF(std::floor(x) + 0.5, frame.top()), QPointF(std::floor(x) + 0.5, frame.bottom()));
  painter.setFont(Theme::withWeight(theme.font(FontRole::axis), 600));
  painter.setPen(theme.colour(Colour::text2));
  const double room = last ? width() - x : axisX(axis + 1) - x - 6;
  // A head takes two lines where one is too narrow for it; only a word that is wider than both is cut.
  const QFontMetricsF headMetrics(painter.font());
  QStringList words;
  for (const QString& word : m_axes[axis].title().split(' ')) {
    if (!words.isEmpty() && words.size() < 2 && headMetrics.horizontalAdvance(words.last() + ' ' + word) > room)
      words << word;
    else if (words.isEmpty())
      words << word;
    else
      words.last() += ' ' + word;
  }
  const double headLine = headMetrics.height();
  for (int i = 0; i < words.size(); ++i)
    painter.drawText(
        QRectF(x - 2, kAbove - kHeadGap - (static_cast<double>(words.size()) - i) * headLine, room, headLine),
        Qt::AlignLeft | Qt::AlignVCenter, headMetrics.elidedText(words[i], Qt::ElideRight, room));
  // Each value once, from above; one that would stand on another is left to the tooltip of the table.
  std::vector<std::pair<double, QString>> labels;
  for (const auto& [at, text] : m_axes[axis].labels()) labels.emplace_back(frame.bottom() - at * frame.height(), text);
  std::sort(labels.begin(), labels.end());
  painter.setFont(theme.numberFont(FontRole::axis));
  const double height = QFontMetricsF(painter.font()).height();
  double below = -1e9;
  for (const auto& [y, text] : labels) {
    if (y - below < height) continue;
    below = y;
    const QString shown = QFontMetricsF(painter.font()).elidedText(text, Qt::ElideMiddle, room - 6);
    // Never over the head.
    const double top = std::max(y - height / 2 - (last ? 0 : 9), kAbove - kHeadGap);
    const QRectF box(x + 8, top, QFontMetricsF(painter.font()).horizontalAdvance(shown) + 2, height);
    painter.fillRect(box, theme.colour(Colour::surface, 0.8));
    painter.setPen(theme.colour(last ? Colour::text : Colour::text2));
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter, shown);
  }
}

void ParallelAxes::paintBrush(QPainter& painter, std::size_t axis) const {
  const AxisBrush* const brush = brushOf(axis);
  const auto range = brush ? m_axes[axis].range(*brush) : std::nullopt;
  if (!range) return;
  const Theme& theme = Theme::of(this);
  const QRectF frame = plot();
  const QRectF box(axisX(axis) - kBrushWidth / 2, frame.bottom() - range->second * frame.height() - 2, kBrushWidth,
                   (range->second - range->first) * frame.height() + 4);
  painter.setPen(QPen(theme.colour(Colour::accent), 1.5));
  painter.setBrush(theme.colour(Colour::accent, 0.18));
  painter.drawRoundedRect(box, 3, 3);
}

void ParallelAxes::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF row(kBefore - 6, 0, width() - kBefore, kTitle);
  painter.setFont(theme.font(FontRole::heading));
  painter.setPen(theme.colour(Colour::text));
  painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter, m_title);
  const double used = QFontMetricsF(painter.font()).horizontalAdvance(m_title) + 8;
  painter.setFont(Theme::withWeight(theme.font(FontRole::label), 400));
  painter.setPen(theme.colour(Colour::text3));
  painter.drawText(
      row.adjusted(used, 0.5, 0, 0.5), Qt::AlignLeft | Qt::AlignVCenter,
      QFontMetricsF(painter.font()).elidedText(m_subtitle, Qt::ElideRight, std::max(0.0, row.width() - used)));
  if (m_axes.empty() || lines().empty() || plot().height() < 20) return;
  if (m_picture.size() != size() * devicePixelRatioF()) render();
  if (!m_highlighted.isEmpty() && lines().size() > kMany) painter.setOpacity(0.5);
  painter.drawImage(QPointF(), m_picture);
  painter.setOpacity(1);
  for (std::size_t line = 0; line < lines().size(); ++line)
    if (lines()[line].id == m_highlighted) paintLine(painter, line, true);
  for (std::size_t axis = 0; axis < m_axes.size(); ++axis) paintAxis(painter, axis);
  for (std::size_t axis = 0; axis < m_axes.size(); ++axis) paintBrush(painter, axis);
}

void ParallelAxes::resizeEvent(QResizeEvent*) {
  m_picture = {};
}

double ParallelAxes::easedY(std::size_t line, std::size_t gap, double x) const {
  const QPointF from = crossing(line, gap), to = crossing(line, gap + 1);
  return from.y() + (to.y() - from.y()) * eased((x - from.x()) / std::max(1.0, to.x() - from.x()));
}

// The nearest one, of those that the brushes leave.
QString ParallelAxes::lineAt(const QPointF& at) const {
  if (m_axes.size() < 2 || at.x() < axisX(0) || at.x() > axisX(m_axes.size() - 1)) return {};
  std::size_t gap = 0;
  while (gap + 2 < m_axes.size() && at.x() > axisX(gap + 1)) ++gap;
  QString found;
  double nearest = kHitWidth;
  for (std::size_t line = 0; line < lines().size(); ++line) {
    const double distance = std::abs(easedY(line, gap, at.x()) - at.y());
    if (!m_inside[line] || distance >= nearest) continue;
    nearest = distance;
    found = lines()[line].id;
  }
  return found;
}

std::optional<std::size_t> ParallelAxes::axisAt(const QPointF& at) const {
  if (at.y() < plot().top() - kAxisHit || at.y() > plot().bottom() + kAxisHit) return {};
  for (std::size_t axis = 0; axis < m_axes.size(); ++axis)
    if (std::abs(at.x() - axisX(axis)) <= kAxisHit) return axis;
  return {};
}

double ParallelAxes::heightAt(double y) const {
  return std::clamp((plot().bottom() - y) / std::max(1.0, plot().height()), -0.03, 1.03);
}

const AxisBrush* ParallelAxes::brushOf(std::size_t axis) const {
  const auto own = std::find_if(m_brushes.begin(), m_brushes.end(),
                                [&](const AxisBrush& each) { return each.axis == m_axes[axis].key(); });
  return own == m_brushes.end() ? nullptr : &*own;
}

void ParallelAxes::setBrush(std::size_t axis, const std::optional<AxisBrush>& brush) {
  std::vector<AxisBrush> all;
  for (const AxisBrush& each : m_brushes)
    if (each.axis != m_axes[axis].key()) all.push_back(each);
  if (brush) all.push_back(*brush);
  if (all == m_brushes) return;
  setBrushes(all);
  Q_EMIT brushed(m_brushes);
}

void ParallelAxes::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  const auto axis = axisAt(event->position());
  if (!axis) {
    if (const QString line = lineAt(event->position()); !line.isEmpty()) Q_EMIT lineClicked(line);
    return;
  }
  Drag drag{.axis = *axis, .from = heightAt(event->position().y()), .pressed = event->position()};
  const AxisBrush* const brush = brushOf(*axis);
  if (const auto range = brush ? m_axes[*axis].range(*brush) : std::nullopt) {
    const double edge = kEdgeHit / std::max(1.0, plot().height());
    if (std::abs(drag.from - range->first) <= edge)
      drag.from = range->second;
    else if (std::abs(drag.from - range->second) <= edge)
      drag.from = range->first;
    else if (drag.from > range->first && drag.from < range->second)
      drag.grip = drag.from, drag.moved = range;
  }
  m_drag = drag;
}

void ParallelAxes::mouseMoveEvent(QMouseEvent* event) {
  if (m_drag && (event->buttons() & Qt::LeftButton)) {
    Drag& drag = *m_drag;
    drag.begun = drag.begun || std::abs(event->position().y() - drag.pressed.y()) > kDragFrom;
    if (!drag.begun) return;
    const double now = heightAt(event->position().y());
    const ValueAxis& axis = m_axes[drag.axis];
    setBrush(drag.axis, drag.moved
                            ? axis.brush(drag.moved->first + now - drag.grip, drag.moved->second + now - drag.grip)
                            : axis.brush(drag.from, now));
    return;
  }
  const auto axis = axisAt(event->position());
  setCursor(axis ? Qt::SizeVerCursor : Qt::ArrowCursor);
  const QString line = axis ? QString() : lineAt(event->position());
  if (line == m_hovered) return;
  m_hovered = line;
  Q_EMIT lineHovered(line);
}

void ParallelAxes::mouseReleaseEvent(QMouseEvent*) {
  m_drag.reset();
}

void ParallelAxes::mouseDoubleClickEvent(QMouseEvent* event) {
  m_drag.reset();
  if (const auto axis = axisAt(event->position())) setBrush(*axis, {});
}

// A head may be too narrow for what stands there.
bool ParallelAxes::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* const help = static_cast<QHelpEvent*>(event);
  QString title;
  const bool heads = help->pos().y() > kTitle && help->pos().y() < plot().top();
  for (std::size_t axis = 0; axis < m_axes.size() && heads; ++axis)
    if (help->pos().x() >= axisX(axis) - kAxisHit) title = m_axes[axis].title();
  QToolTip::showText(help->globalPos(), title, this);
  return true;
}

void ParallelAxes::keyPressEvent(QKeyEvent* event) {
  if (event->key() != Qt::Key_Escape || m_brushes.empty()) return QWidget::keyPressEvent(event);
  setBrushes({});
  Q_EMIT brushed(m_brushes);
}

void ParallelAxes::leaveEvent(QEvent*) {
  if (m_hovered.isEmpty()) return;
  m_hovered.clear();
  Q_EMIT lineHovered({});
}

}  // namespace loom
