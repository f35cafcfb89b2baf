#include "widgets/chart/parallel_axes.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "widgets/table/table_sort_model.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr double kAbove = 64, kBelow = 46, kBefore = 8,
                 kAfter = 58;    // title and names above; the foot as beside charts
constexpr double kHeadGap = 10;  // between heads and axes
constexpr double kThin = 1.75, kThick = 2.75, kDimmed = 0.35, kDotRadius = 2.5, kHitWidth = 8, kApart = 1.5;
constexpr std::size_t kMany = 30;  // lines from which they are thin and without dots: a tenth of the time
constexpr double kLogFrom = 20;    // largest over smallest from which an axis is logarithmic

bool standsAtPlace(const ParallelValue& value) {
  return value.number && std::isfinite(*value.number);
}

}  // namespace

ParallelAxes::ParallelAxes(QWidget* parent) : QWidget(parent) {
  setMouseTracking(true);
}

void ParallelAxes::setTitle(const QString& title, const QString& subtitle) {
  m_title = title;
  m_subtitle = subtitle;
  setAccessibleName(title);
  update();
}

void ParallelAxes::setContent(std::vector<QString> axes, std::vector<ParallelLine> lines) {
  m_axes = std::move(axes);
  m_lines = std::move(lines);
  place();
  update();
}

void ParallelAxes::setHighlighted(const QString& id) {
  if (id == m_highlighted) return;
  m_highlighted = id;
  update();
}

void ParallelAxes::place() {
  m_heights.assign(m_axes.size(), std::vector<double>(m_lines.size(), 0));
  for (std::size_t axis = 0; axis < m_axes.size(); ++axis) {
    std::vector<double> numbers;
    QStringList words;
    for (const ParallelLine& line : m_lines) {
      const ParallelValue& value = line.values[axis];
      if (standsAtPlace(value))
        numbers.push_back(*value.number);
      else if (!value.number && !words.contains(value.text))
        words << value.text;
    }
    std::sort(words.begin(), words.end(), [](const QString& a, const QString& b) { return naturalLess(b, a); });
    const bool byNumber = !numbers.empty();
    const auto [low, high] =
        byNumber ? std::minmax_element(numbers.begin(), numbers.end()) : std::pair{numbers.end(), numbers.end()};
    const bool logarithmic = byNumber && *low > 0 && *high / *low >= kLogFrom;
    const auto scaled = [&](double value) { return logarithmic ? std::log(value) : value; };
    for (std::size_t line = 0; line < m_lines.size(); ++line) {
      const ParallelValue& value = m_lines[line].values[axis];
      double height = 0;
      if (byNumber) {
        // What is no number stands at the foot, below the least.
        const bool foot = numbers.size() < m_lines.size();
        const double share = !standsAtPlace(value) ? 0
                             : *high > *low ? (scaled(*value.number) - scaled(*low)) / (scaled(*high) - scaled(*low))
                                            : 0.5;
        height = !standsAtPlace(value) ? 0 : foot ? 0.1 + 0.9 * share : share;
      } else {
        height = words.size() > 1
                     ? static_cast<double>(words.indexOf(value.text)) / static_cast<double>(words.size() - 1)
                     : 0.5;
      }
      m_heights[axis][line] = height;
    }
  }
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

QPointF ParallelAxes::crossing(std::size_t line, std::size_t axis) const {
  const QRectF frame = plot();
  // Lines that share a value lie beside each other, not over each other.
  const double apart = (static_cast<double>(line) - static_cast<double>(m_lines.size() - 1) / 2) * kApart;
  return {axisX(axis),
          std::clamp(frame.bottom() - m_heights[axis][line] * frame.height() + std::clamp(apart, -6.0, 6.0),
                     frame.top() - 6, frame.bottom() + 6)};
}

QPainterPath ParallelAxes::pathOf(std::size_t line) const {
  QPainterPath path(crossing(line, 0));
  for (std::size_t axis = 1; axis < m_axes.size(); ++axis) {
    const QPointF from = crossing(line, axis - 1), to = crossing(line, axis);
    const double half = (to.x() - from.x()) / 2;
    path.cubicTo(from + QPointF(half, 0), to - QPointF(half, 0), to);
  }
  return path;
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
  for (const QString& word : m_axes[axis].split(' ')) {
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
  for (std::size_t line = 0; line < m_lines.size(); ++line)
    labels.emplace_back(frame.bottom() - m_heights[axis][line] * frame.height(), m_lines[line].values[axis].text);
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
    const QRectF box(x + 6, top, QFontMetricsF(painter.font()).horizontalAdvance(shown) + 2, height);
    painter.fillRect(box, theme.colour(Colour::surface, 0.8));
    painter.setPen(theme.colour(last ? Colour::text : Colour::text2));
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter, shown);
  }
}

void ParallelAxes::paintLine(QPainter& painter, std::size_t line, bool strong) const {
  const Theme& theme = Theme::of(this);
  QColor colour = theme.curveColour(m_lines[line].colour);
  if (!m_highlighted.isEmpty() && !strong) colour.setAlphaF(static_cast<float>(kDimmed));
  QPen pen(colour, strong ? kThick : kThin, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
  if (const auto dash = theme.curveDash(m_lines[line].colour, pen.widthF()); !dash.isEmpty()) pen.setDashPattern(dash);
  const bool many = m_lines.size() > kMany && !strong;
  if (many) pen = QPen(colour, 1);
  painter.setRenderHint(QPainter::Antialiasing, !many);
  painter.setPen(pen);
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(pathOf(line));
  painter.setRenderHint(QPainter::Antialiasing);
  if (many) return;
  painter.setPen(QPen(theme.colour(Colour::surface), 1));
  painter.setBrush(colour);
  for (std::size_t axis = 0; axis < m_axes.size(); ++axis)
    painter.drawEllipse(crossing(line, axis), kDotRadius, kDotRadius);
}

void ParallelAxes::paintEvent(QPaintEvent*) {
  const Theme& theme = Theme::of(this);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const QRectF row(kBefore - 2, 0, width() - kBefore, 20);
  painter.setFont(theme.font(FontRole::heading));
  painter.setPen(theme.colour(Colour::text));
  painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter, m_title);
  const double used = QFontMetricsF(painter.font()).horizontalAdvance(m_title) + 8;
  painter.setFont(Theme::withWeight(theme.font(FontRole::label), 400));
  painter.setPen(theme.colour(Colour::text3));
  painter.drawText(
      row.adjusted(used, 0.5, 0, 0.5), Qt::AlignLeft | Qt::AlignVCenter,
      QFontMetricsF(painter.font()).elidedText(m_subtitle, Qt::ElideRight, std::max(0.0, row.width() - used)));
  if (m_axes.empty() || m_lines.empty() || plot().height() < 20) return;
  for (std::size_t line = 0; line < m_lines.size(); ++line)
    if (m_lines[line].id != m_highlighted) paintLine(painter, line, false);
  for (std::size_t line = 0; line < m_lines.size(); ++line)
    if (m_lines[line].id == m_highlighted) paintLine(painter, line, true);
  for (std::size_t axis = 0; axis < m_axes.size(); ++axis) paintAxis(painter, axis);
}

QString ParallelAxes::lineAt(const QPointF& at) const {
  QPainterPathStroker around;
  around.setWidth(kHitWidth);
  for (std::size_t line = m_lines.size(); line-- > 0;)
    if (m_axes.size() > 1 && around.createStroke(pathOf(line)).contains(at)) return m_lines[line].id;
  return {};
}

void ParallelAxes::mouseMoveEvent(QMouseEvent* event) {
  const QString line = lineAt(event->position());
  if (line == m_hovered) return;
  m_hovered = line;
  Q_EMIT lineHovered(line);
}

void ParallelAxes::mousePressEvent(QMouseEvent* event) {
  if (const QString line = lineAt(event->position()); event->button() == Qt::LeftButton && !line.isEmpty())
    Q_EMIT lineClicked(line);
}

void ParallelAxes::leaveEvent(QEvent*) {
  if (m_hovered.isEmpty()) return;
  m_hovered.clear();
  Q_EMIT lineHovered({});
}

}  // namespace loom
