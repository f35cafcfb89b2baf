// The words of a panel: line ends, event flags, the cursor's label.
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "widgets/chart/chart_painter.h"
#include "widgets/chart/line_chart.h"
#include "widgets/theme/icon.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr double kEndGap = 17;
constexpr double kTwoLineGap = 34;
constexpr std::size_t kMostEnds = 10;
constexpr double kFlagDistance = 20;  // events nearer than that merge to a count

// A line whose last value lies beyond the axis has no place at the right; words at the edge tell of it.
bool endsOutside(const PanelLine& line, const QRectF& plot) {
  return line.drawn.end && (line.drawn.end->y() < -1 || line.drawn.end->y() > plot.height() + 1);
}

}  // namespace

// Events in the order of x; those nearer than a flag's distance count as one.
std::vector<ChartPainter::Flag> ChartPainter::flags(const QRectF& plot) const {
  std::vector<ChartEvent> events = m_chart.m_events;
  std::stable_sort(events.begin(), events.end(), [](const ChartEvent& a, const ChartEvent& b) { return a.x < b.x; });
  const auto placeOf = [&](const ChartEvent& event) {
    return plot.left() + m_chart.m_axis->place(event.x) * plot.width();
  };
  std::vector<Flag> flags;
  for (std::size_t i = 0; i < events.size();) {
    const double at = placeOf(events[i]);
    std::size_t end = i + 1;
    while (end < events.size() && placeOf(events[end]) - at < kFlagDistance) ++end;
    if (at >= plot.left() - 0.5 && at <= plot.right() + 0.5)
      flags.push_back({at, end - i == 1 ? events[i].text : QObject::tr("%1 events").arg(end - i), events[i].icon});
    i = end;
  }
  return flags;
}

void ChartPainter::paintEventLines(QPainter& painter, const QRectF& plot) {
  QPen pen(m_palette[Colour::text3], 1, Qt::CustomDashLine, Qt::FlatCap);
  pen.setDashPattern({2, 3});
  painter.setPen(pen);
  for (const Flag& flag : flags(plot))
    painter.drawLine(QPointF(snapped(flag.x), plot.top()), QPointF(snapped(flag.x), plot.bottom()));
}

// Over the curves: a flag is there to be read.
void ChartPainter::paintFlags(QPainter& painter, const QRectF& plot) {
  if (!m_chart.m_flags) return;
  painter.setFont(Theme::of().font(FontRole::axis));
  const QFontMetricsF metrics(painter.font());
  for (const Flag& flag : flags(plot)) {
    QRectF chip(flag.x, plot.top() + 1, metrics.horizontalAdvance(flag.text) + 28, 20);
    if (chip.right() > plot.right()) chip.moveRight(flag.x);
    if (!take(chip.adjusted(-2, 0, 2, 0))) continue;
    painter.setPen(QPen(m_palette[Colour::lineStrong], 1));
    painter.setBrush(m_palette[Colour::surface]);
    painter.drawRoundedRect(chip.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    paintIcon(painter, flag.icon, QRectF(chip.left() + 5, chip.top() + 3, 14, 14), m_palette[Colour::text2]);
    painter.setPen(m_palette[Colour::text]);
    painter.drawText(chip.adjusted(22, 0, -4, 0), Qt::AlignVCenter | Qt::AlignLeft, flag.text);
  }
}

void ChartPainter::paintOutside(QPainter& painter, const QRectF& plot) {
  const Theme& theme = Theme::of();
  painter.setFont(Theme::withWeight(theme.font(FontRole::axis), 500));
  const QFontMetricsF metrics(painter.font());
  double right[2] = {plot.left() + 8, plot.left() + 8};
  for (const PanelLine& line : m_chart.m_lines) {
    if (!line.line.visible || line.line.kind == LineKind::planned || !line.drawn.lastValue || !endsOutside(line, plot))
      continue;
    const bool top = line.drawn.end->y() < 0;
    const QString words = QObject::tr("%1 leaves the frame, last %2")
                              .arg(line.line.name, formatValue(line.line.value, *line.drawn.lastValue));
    const double width = metrics.horizontalAdvance(words) + 16;
    double& left = right[top ? 0 : 1];
    if (left + width > plot.right()) continue;
    const double y = top ? plot.top() + 9 : plot.bottom() - 9;
    // Beside flags and marks, not over them.
    while (left + width <= plot.right() && !take(QRectF(left - 2, y - 8, width, 16))) left += 24;
    if (left + width > plot.right()) continue;
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink(line));
    const double tip = top ? -4 : 4;
    painter.drawPolygon(QPolygonF{QPointF(left + 4, y + tip), QPointF(left - 1, y - tip), QPointF(left + 9, y - tip)});
    painter.setPen(m_palette[Colour::text]);
    painter.drawText(QRectF(left + 14, y - 8, width, 16), Qt::AlignVCenter | Qt::AlignLeft, words);
    left += width + 14;
  }
}

void ChartPainter::paintEnds(QPainter& painter, const QRectF& area, const QRectF& plot) {
  paintOutside(painter, plot);
  m_chart.m_endValues.clear();
  if (m_chart.m_ends == LineEnds::none) return;
  const Theme& theme = Theme::of();
  const bool two = m_chart.m_ends == LineEnds::twoLines;
  std::vector<const PanelLine*> ends;
  for (const PanelLine& line : m_chart.m_lines) {
    if (!line.line.visible || line.line.kind == LineKind::planned || !line.drawn.lastValue) continue;
    if (!line.drawn.bars.isEmpty())
      ends.push_back(&line);
    else if (line.drawn.end && !endsOutside(line, plot))
      ends.push_back(&line);
  }
  const auto better = [&](const PanelLine* a, const PanelLine* b) {
    return m_chart.m_better == Better::higher ? *a->drawn.lastValue > *b->drawn.lastValue
                                              : *a->drawn.lastValue < *b->drawn.lastValue;
  };
  if (ends.size() > kMostEnds) {
    // The ten best and the one under the pointer.
    std::stable_sort(ends.begin(), ends.end(), better);
    std::vector<const PanelLine*> kept(ends.begin(), ends.begin() + kMostEnds);
    for (std::size_t i = kMostEnds; i < ends.size(); ++i) {
      if (ends[i]->line.id == m_chart.m_highlighted) kept.back() = ends[i];
    }
    ends = kept;
  }
  const double grown = theme.textSize() / 100.0, height = 15 * grown;  // of a line of words
  const double endGap = kEndGap * grown, rowHeight = two ? kTwoLineGap * grown : endGap;
  std::vector<double> wanted;
  double above = 0;
  for (const PanelLine* line : ends) {
    if (line->drawn.end) {
      wanted.push_back(std::clamp(line->drawn.end->y(), 0.0, plot.height()));
    } else {
      // Parts of a stack are listed from the top, in the order in which they lie.
      wanted.push_back(plot.height() / 2 - (above++ - static_cast<double>(ends.size()) / 2) * endGap);
    }
  }
  const bool oneRow = !two || (!ends.empty() && !ends.front()->drawn.end);
  const double gap = oneRow && two ? 22 * grown : rowHeight;
  // Labels may stand a little beyond the frame, over title and axis.
  const double spare = std::min(8.0, static_cast<double>(m_chart.m_margins.bottom));
  for (double& y : wanted) y += spare;
  // Large words of two lines would be cut at the foot.
  const std::vector<double> places =
      spread(wanted, gap, plot.height() + 2 * spare - (oneRow ? 0 : 1.5 * (height - 15)));
  const double right = area.right() - 2;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const PanelLine& line = *ends[i];
    const double y = plot.top() + places[i] - spare;
    const double x = plot.right() + 14;
    const QColor colour = ink(line);
    const bool isLine = !line.line.special && !line.line.ink;
    const bool sign = isLine || line.line.special;
    if (line.drawn.end && sign) {
      const QPointF from = plot.topLeft() + QPointF(std::min(line.drawn.end->x(), plot.width()),
                                                    std::clamp(line.drawn.end->y(), 0.0, plot.height()));
      QPen leader(colour, 1);
      const bool far = plot.right() - from.x() > 12;
      if (far) {
        leader = QPen(ink(line, 0.8), 1, Qt::CustomDashLine, Qt::FlatCap);
        leader.setDashPattern({1.5, 2.5});
      }
      painter.setPen(leader);
      const double bend = plot.right() - (far ? 14 : 0);
      painter.drawPolyline(
          QPolygonF{from + QPointF(far ? 8 : 0, 0), QPointF(std::max(bend, from.x()), from.y()), QPointF(x - 5, y)});
    }
    if (oneRow && isLine && !two) {
      painter.setPen(QPen(colour, 3.5, Qt::SolidLine, Qt::RoundCap));
      painter.drawLine(QPointF(x - 2, y), QPointF(x + 5, y));
    } else if (sign) {
      paintLineSign(painter, QPointF(x, y), line.line, colour, m_palette[Colour::surface]);
    }
    const bool bold = line.line.id == m_chart.m_highlighted && !m_chart.m_highlighted.isEmpty();
    const QFont names = Theme::withWeight(theme.font(FontRole::axis), bold ? 600 : 400);
    const QFont values = Theme::withWeight(theme.numberFont(FontRole::axis), bold ? 600 : 500);
    const QString value = formatValue(line.line.value, *line.drawn.lastValue);
    const double textLeft = sign ? x + 11 : x - 8;
    if (oneRow) {
      const double wide = QFontMetricsF(values).horizontalAdvance(value);
      painter.setFont(names);
      painter.setPen(m_palette[Colour::text]);
      const double room = right - wide - 4 - textLeft;
      painter.drawText(QRectF(textLeft, y - height / 2 - 2, room, height + 4), Qt::AlignVCenter | Qt::AlignLeft,
                       QFontMetricsF(names).elidedText(line.line.name, Qt::ElideMiddle, room));
      painter.setFont(values);
      painter.drawText(QRectF(right - wide - 1, y - height / 2 - 2, wide + 1, height + 4),
                       Qt::AlignVCenter | Qt::AlignRight, value);
      m_chart.m_endValues.push_back(
          {QRectF(right - wide - 1, y - height / 2 - 2, wide + 1, height + 4), line.line.id, bold});
    } else if (!sign) {
      painter.setFont(Theme::withWeight(theme.numberFont(FontRole::label), 500));
      painter.setPen(m_palette[Colour::text]);
      painter.drawText(QRectF(textLeft, y - height / 2 - 2, right - textLeft, height + 4),
                       Qt::AlignVCenter | Qt::AlignLeft, value);
    } else {
      painter.setFont(names);
      painter.setPen(m_palette[Colour::text2]);
      painter.drawText(QRectF(textLeft, y - height, right - textLeft, height), Qt::AlignVCenter | Qt::AlignLeft,
                       line.line.name);
      painter.setFont(values);
      painter.setPen(m_palette[Colour::text]);
      painter.drawText(QRectF(textLeft, y, right - textLeft, height), Qt::AlignVCenter | Qt::AlignLeft, value);
    }
  }
}

// In the place of the values at the line ends, or at the right of the title of a panel that has none.
void ChartPainter::paintCursorValues(QPainter& painter, const QRectF& area) {
  const Theme& theme = Theme::of();
  const auto write = [&](QRectF place, const QString& text, bool bold) {
    const QFont font = Theme::withWeight(theme.numberFont(FontRole::axis), bold ? 600 : 500);
    const double width = QFontMetricsF(font).horizontalAdvance(text) + 1;
    // A longer one lies over the end of the name.
    if (width > place.width()) place.setLeft(place.right() - width);
    painter.fillRect(place, m_palette[Colour::surface]);
    painter.setFont(font);
    painter.setPen(m_palette[Colour::text]);
    painter.drawText(place, Qt::AlignVCenter | Qt::AlignRight, text);
  };
  for (const LineChart::EndValue& each : m_chart.m_endValues)
    for (const PanelLine& line : m_chart.m_lines)
      if (line.line.id == each.line) write(each.place, m_chart.legendValue(line), each.bold);
  const QString words = m_chart.cursorWords();
  if (words.isEmpty()) return;
  const double right = area.right() - (m_chart.m_menuButton ? 28 : 2);
  write(QRectF(right, area.top(), 0, 20), words, false);
}

void ChartPainter::paintCursor(QPainter& painter, const QRectF& area) {
  const auto cursor = m_chart.m_axis->cursor();
  if (!cursor) return;
  const PanelMargins& margins = m_chart.m_margins;
  const QRectF plot = area.adjusted(margins.left, margins.top, -margins.right, -margins.bottom);
  const double at = plot.left() + m_chart.m_axis->place(*cursor) * plot.width();
  if (at < plot.left() - 0.5 || at > plot.right() + 0.5) return;
  const Theme& theme = Theme::of();
  QPen pen(m_palette[Colour::text], 1);
  pen.setCosmetic(true);
  painter.setPen(pen);
  painter.setRenderHint(QPainter::Antialiasing, false);
  // Through the gaps between panels too, down to the label.
  painter.drawLine(QPointF(snapped(at), m_chart.m_continued ? area.top() : plot.top()),
                   QPointF(snapped(at), m_chart.m_xNumbers ? plot.bottom() + 4 : area.bottom()));
  painter.setRenderHint(QPainter::Antialiasing);
  for (const PanelLine& line : m_chart.m_lines) {
    if (!line.line.visible || line.line.kind == LineKind::stacked) continue;
    const auto value = valueAt(line.line, line.data, *cursor);
    if (!value || !std::isfinite(value->drawn)) continue;
    const QPointF dot(plot.left() + m_chart.m_axis->place(value->x) * plot.width(),
                      plot.top() + m_chart.m_scale.toPixel(value->drawn));
    if (dot.y() < plot.top() - 1 || dot.y() > plot.bottom() + 1) continue;
    painter.setPen(QPen(m_palette[Colour::surface], 1.5));
    painter.setBrush(colourOf(line.line));
    const double radius = m_chart.m_lines.size() > kMostEnds ? 3 : 4;
    painter.drawEllipse(dot, radius, radius);
  }
  paintCursorValues(painter, area);
  if (!m_chart.m_xNumbers) return;
  const QFont font = Theme::withWeight(theme.numberFont(FontRole::axis), 500);
  const QString text = m_chart.m_axis->label(*cursor);
  const double width = QFontMetricsF(font).horizontalAdvance(text) + 18;
  QRectF label(at - width / 2, plot.bottom() + 4, width, 19);
  label.moveLeft(std::clamp(label.left(), area.left(), area.right() - width));
  painter.setPen(Qt::NoPen);
  painter.setBrush(m_palette[Colour::text]);
  painter.drawRoundedRect(label, 4, 4);
  painter.setFont(font);
  painter.setPen(m_palette[Colour::surface]);
  painter.drawText(label, Qt::AlignCenter, text);
}

}  // namespace loom
