#include "widgets/chart/chart_painter.h"

#include <QPainter>
#include <QPainterPath>
#include <cmath>

#include "widgets/chart/line_chart.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr double kLine = 1.75;
constexpr double kHighlight = 2.75;
constexpr double kFade = 0.35;
constexpr double kBandOpacity = 0.16;
constexpr double kPlotTop = 2;
constexpr double kEdgeDot = 5;  // beyond the frame, of dots that stand at its edge
constexpr int kMarkRows = 3;    // of marks that stand at one place

QPen cosmetic(const QColor& colour, double width = 1) {
  QPen pen(colour, width);
  pen.setCosmetic(true);
  return pen;
}

QPen dashed(const QColor& colour, double width, double dash, double gap) {
  QPen pen(colour, width, Qt::CustomDashLine, Qt::FlatCap);
  pen.setDashPattern({dash / width, gap / width});
  return pen;
}

}  // namespace

void paintLineSign(QPainter& painter, const QPointF& centre, const ChartLine& line, const QColor& colour,
                   const QColor& ground) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  if (line.kind == LineKind::validation) {
    painter.setPen(QPen(colour, 1.5));
    painter.setBrush(ground);
    painter.drawEllipse(centre, 3.5, 3.5);
  } else {
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    if (line.kind == LineKind::stacked)
      painter.drawRoundedRect(QRectF(centre.x() - 4, centre.y() - 4.5, 8, 9), 2, 2);
    else
      painter.drawEllipse(centre, 4, 4);
  }
  painter.restore();
}

ChartPainter::ChartPainter(const LineChart& chart, const Palette& palette, bool dark)
    : m_chart(chart), m_palette(palette), m_dark(dark) {}

QColor ChartPainter::colourOf(const ChartLine& line) const {
  if (line.special) return (*line.special)(m_palette);
  if (line.ink) return m_palette[*line.ink];
  if (line.colour < 0 || line.colour >= 30) return mixed(m_palette[Colour::axis], 0.4);
  return m_palette.curves[static_cast<std::size_t>(line.colour) % m_palette.curves.size()];
}

bool ChartPainter::faded(const PanelLine& line) const {
  return !m_chart.m_highlighted.isEmpty() && line.line.id != m_chart.m_highlighted;
}

QColor ChartPainter::mixed(const QColor& colour, double opacity) const {
  const QColor ground = m_palette[Colour::surface];
  const auto part = [&](float over, float under) { return static_cast<float>(under + (over - under) * opacity); };
  return QColor::fromRgbF(part(colour.redF(), ground.redF()), part(colour.greenF(), ground.greenF()),
                          part(colour.blueF(), ground.blueF()));
}

double ChartPainter::strength(const PanelLine& line) const {
  return faded(line) ? kFade : 1;
}

QColor ChartPainter::ink(const PanelLine& line, double opacity) const {
  return mixed(colourOf(line.line), opacity * strength(line));
}

bool ChartPainter::take(const QRectF& place) {
  for (const QRectF& each : m_taken)
    if (each.intersects(place)) return false;
  m_taken.push_back(place);
  return true;
}

void ChartPainter::paint(QPainter& painter, const QRectF& area) {
  const PanelMargins& margins = m_chart.m_margins;
  const QRectF plot = area.adjusted(margins.left, margins.top, -margins.right, -margins.bottom);
  painter.setRenderHint(QPainter::Antialiasing);
  paintTitle(painter, area);
  if (plot.width() < 20 || plot.height() < 20) return;
  paintGrid(painter, plot);
  paintLive(painter, plot);
  paintEventLines(painter, plot);
  paintCurves(painter, plot);
  m_taken.clear();
  paintFlags(painter, plot);
  paintMarks(painter, plot);
  paintEnds(painter, area, plot);
  paintBest(painter, plot);
  paintEmpty(painter, plot);
}

void ChartPainter::paintTitle(QPainter& painter, const QRectF& area) {
  const Theme& theme = Theme::of();
  const QFont heading = theme.font(FontRole::heading);
  painter.setFont(heading);
  painter.setPen(m_palette[Colour::text]);
  const QRectF row(area.left(), area.top(), area.width(), 20);
  painter.drawText(row, Qt::AlignLeft | Qt::AlignVCenter, m_chart.m_title);
  const double used = QFontMetricsF(heading).horizontalAdvance(m_chart.m_title);
  painter.setFont(Theme::withWeight(theme.font(FontRole::label), 400));
  painter.setPen(m_palette[Colour::text3]);
  painter.drawText(row.adjusted(used + 8, 0.5, 0, 0.5), Qt::AlignLeft | Qt::AlignVCenter,
                   m_chart.m_log && m_chart.m_subtitle.isEmpty() ? QObject::tr("log") : m_chart.m_subtitle);
}

void ChartPainter::paintGrid(QPainter& painter, const QRectF& plot) {
  const Theme& theme = Theme::of();
  const XAxisModel& axis = *m_chart.m_axis;
  const double factor = axisFactor(m_chart.m_kind);
  const Ticks y = m_chart.yTicks();
  painter.setRenderHint(QPainter::Antialiasing, false);
  const QFont numbers = theme.numberFont(FontRole::axis);
  const double half = QFontMetricsF(numbers).height() / 2;
  painter.setFont(numbers);
  double lastLabel = 1e9;
  for (const double value : y.values) {
    const double at = plot.top() + m_chart.m_scale.toPixel(value / factor);
    painter.setPen(cosmetic(m_palette[Colour::grid]));
    if (at < plot.bottom() - 0.5)
      painter.drawLine(QPointF(plot.left(), snapped(at)), QPointF(plot.right(), snapped(at)));
    if (lastLabel - at < half * 2.1) continue;
    lastLabel = at;
    painter.setPen(m_palette[Colour::text3]);
    painter.drawText(QRectF(plot.left() - 129, at - half, 120, half * 2), Qt::AlignRight | Qt::AlignVCenter,
                     tickLabel(value, y));
  }
  const Interval seen = axis.visible();
  const int mostX = std::clamp(static_cast<int>(plot.width() / 48), 2, 8);
  const Ticks x =
      axis.isLogarithmic() ? logTicks({std::max(axis.xAt(0), 1e-300), seen.high}, mostX) : linearTicks(seen, mostX);
  double lastRight = -1e9;
  for (const double value : x.values) {
    const double at = plot.left() + axis.place(value) * plot.width();
    if (at < plot.left() - 0.5 || at > plot.right() + 0.5) continue;
    painter.setPen(cosmetic(m_palette[Colour::grid]));
    painter.drawLine(QPointF(snapped(at), plot.top()), QPointF(snapped(at), plot.bottom()));
    if (!m_chart.m_xNumbers) continue;
    const QString label = axis.tickLabel(value, x);
    const double wide = QFontMetricsF(numbers).horizontalAdvance(label) / 2;
    const double middle = std::min(at, m_chart.width() - 2 - wide);  // whole at the panel's end, too
    if (middle - wide < lastRight + 8) continue;
    lastRight = middle + wide;
    painter.setPen(m_palette[Colour::text3]);
    painter.drawText(QRectF(middle - 60, plot.bottom() + 6, 120, half * 2), Qt::AlignHCenter | Qt::AlignTop, label);
  }
  if (m_chart.m_xNumbers) {
    painter.setFont(theme.font(FontRole::axis));
    painter.setPen(m_palette[Colour::text3]);
    painter.drawText(QRectF(plot.left(), plot.bottom() + 6 + half * 2, plot.width(), half * 2 + 2),
                     Qt::AlignHCenter | Qt::AlignTop, axis.title());
  }
  painter.setPen(cosmetic(m_palette[Colour::axis]));
  painter.drawLine(QPointF(plot.left(), snapped(plot.bottom())), QPointF(plot.right(), snapped(plot.bottom())));
  painter.setRenderHint(QPainter::Antialiasing);
}

void ChartPainter::paintLive(QPainter& painter, const QRectF& plot) {
  const auto edge = m_chart.m_axis->liveEdge();
  if (!edge) return;
  const double place = m_chart.m_axis->place(*edge);
  if (place >= 1) return;
  const double at = plot.left() + std::max(place, 0.0) * plot.width();
  QColor ahead = m_palette[Colour::sunken];
  ahead.setAlphaF(0.55f);
  painter.fillRect(QRectF(at, plot.top(), plot.right() - at, plot.height()), ahead);
  if (place < 0) return;
  painter.setPen(dashed(m_palette[m_chart.m_axis->isConnected() ? Colour::accentText : Colour::warning], 1, 3, 3));
  painter.drawLine(QPointF(snapped(at), plot.top()), QPointF(snapped(at), plot.bottom()));
}

void ChartPainter::paintCurves(QPainter& painter, const QRectF& plot) {
  const Theme& theme = Theme::of();
  CurveLayer& layer = *m_chart.m_layer;
  layer.begin(plot.size(), m_chart.m_lines.size());
  painter.save();
  painter.setClipRect(plot.adjusted(-0.5, -kPlotTop, 0.5, 1));
  const auto highlightedLast = [&](auto&& each) {
    for (const PanelLine& line : m_chart.m_lines) {
      if (line.line.visible && line.line.id != m_chart.m_highlighted) each(line);
    }
    for (const PanelLine& line : m_chart.m_lines) {
      if (line.line.visible && line.line.id == m_chart.m_highlighted) each(line);
    }
  };
  highlightedLast([&](const PanelLine& line) {
    const bool bold = line.line.id == m_chart.m_highlighted && !m_chart.m_highlighted.isEmpty();
    const bool thin = line.line.kind == LineKind::validation && !line.drawn.dots.isEmpty();
    const double width = bold                                                                       ? kHighlight
                         : thin                                                                     ? 1
                         : line.line.kind == LineKind::plain || line.line.kind == LineKind::planned ? 1.5
                                                                                                    : kLine;
    QPen pen(ink(line, thin ? 0.7 : 1), width, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
    if (line.line.kind == LineKind::planned) {
      pen = dashed(ink(line), width, 4, 3);
    } else if (const auto dash = theme.curveDash(line.line.special || line.line.ink ? 0 : line.line.colour, width);
               !dash.isEmpty()) {
      pen.setDashPattern(dash);
      pen.setCapStyle(Qt::FlatCap);
    }
    // Bands have no joints, and of several that lie over each other each is to be seen.
    QColor band = colourOf(line.line);
    band.setAlphaF(static_cast<float>(kBandOpacity * strength(line)));
    for (const LineSegment& segment : line.drawn.segments) {
      if (segment.upper.size() > 1) layer.addBand(segment.upper, segment.lower, band);
      if (segment.faint.size() > 1) layer.addLine(segment.faint, QPen(ink(line, 0.3), 1));
      if (segment.line.size() > 1) layer.addLine(segment.line, pen);
    }
  });
  layer.render(painter, plot);
  // Dots at the very edge stand there whole: a series of one point is nothing but such a dot.
  painter.setClipRect(plot.adjusted(-kEdgeDot, -kPlotTop, kEdgeDot, kEdgeDot));
  painter.translate(plot.topLeft());
  highlightedLast([&](const PanelLine& line) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink(line));
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (const QRectF& bar : line.drawn.bars) painter.drawRect(bar);
    painter.setRenderHint(QPainter::Antialiasing);
    for (const LineSegment& segment : line.drawn.segments) {
      // A value alone between two gaps would not be seen as a line.
      if (segment.line.size() == 1 && line.line.kind != LineKind::validation) {
        const double radius = line.drawn.segments.size() == 1 ? 3 : 1.75;
        painter.drawEllipse(segment.line.front(), radius, radius);
      }
    }
    if (line.line.kind == LineKind::validation) {
      const double room = line.drawn.dots.size() > 1 ? (line.drawn.dots.back().x() - line.drawn.dots.front().x()) /
                                                           static_cast<double>(line.drawn.dots.size() - 1)
                                                     : 99;
      if (room < 4) return;
      painter.setPen(QPen(ink(line), 1.4));
      painter.setBrush(m_palette[Colour::surface]);
      for (const QPointF& dot : line.drawn.dots) painter.drawEllipse(dot, 2.5, 2.5);
    } else {
      painter.setBrush(ink(line, m_chart.m_smoothing > 0 ? 0.45 : 1));
      for (const QPointF& dot : line.drawn.dots) painter.drawEllipse(dot, 1.5, 1.5);
    }
  });
  painter.restore();
}

void ChartPainter::paintMarks(QPainter& painter, const QRectF& plot) {
  const Theme& theme = Theme::of();
  painter.save();
  painter.translate(plot.topLeft());
  const double belowFlags = m_chart.m_flags && !m_chart.m_events.empty() ? 22 : 0;
  for (const PanelLine& line : m_chart.m_lines) {
    if (!line.line.visible) continue;
    bool told = false;
    for (const EdgeMark& mark : line.drawn.marks) {
      const double size = mark.finite ? 3.5 : 6;
      const double height = size * 1.7;
      const double direction = mark.top ? 1 : -1;
      double base = mark.top ? (mark.finite ? 1 : 2 + belowFlags) : plot.height() - (mark.finite ? 1 : 2);
      const auto place = [&] {
        return QRectF(mark.x - size, mark.top ? base : base - height, 2 * size, height).translated(plot.topLeft());
      };
      // Of several lines that leave at one place each keeps its sign, one row further in.
      for (int row = 0; row < kMarkRows && !take(place()); ++row) base += direction * (height + 4);
      QPainterPath triangle;
      triangle.moveTo(mark.x, base);
      triangle.lineTo(mark.x - size, base + direction * height);
      triangle.lineTo(mark.x + size, base + direction * height);
      triangle.closeSubpath();
      if (mark.finite) {
        painter.fillPath(triangle, ink(line));
        continue;
      }
      painter.setPen(QPen(ink(line), 1.6, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
      painter.setBrush(m_palette[Colour::surface]);
      painter.drawPath(triangle);
      if (told) continue;
      told = true;
      const QString unit = m_chart.m_axis->unit() == XUnit::epoch  ? QObject::tr("epoch")
                           : m_chart.m_axis->unit() == XUnit::step ? QObject::tr("step")
                                                                   : QString();
      const QString what = std::isnan(mark.value) ? QStringLiteral("NaN")
                           : mark.value > 0       ? QStringLiteral("+inf")
                                                  : QStringLiteral("−inf");
      const QString words =
          unit.isEmpty() ? what : QObject::tr("%1 at %2 %3").arg(what, unit, formatValue(ValueKind::plain, mark.at));
      painter.setFont(Theme::withWeight(theme.font(FontRole::axis), 500));
      const double width = QFontMetricsF(painter.font()).horizontalAdvance(words);
      double left = mark.x + size + 5;
      if (left + width > plot.width()) left = mark.x - size - 5 - width;
      const QRectF box(left, (mark.top ? base : base - height) + height / 2 - 7.5, width + 2, 15);
      if (!take(box.translated(plot.topLeft()))) continue;
      painter.setPen(m_palette[Colour::text]);
      painter.drawText(box, Qt::AlignVCenter, words);
    }
  }
  const auto edge = m_chart.m_axis->liveEdge();
  for (const PanelLine& line : m_chart.m_lines) {
    if (!edge || !line.line.visible || !line.drawn.end || line.line.kind != LineKind::curve) continue;
    painter.setPen(Qt::NoPen);
    painter.setBrush(ink(line, 0.22));
    painter.drawEllipse(*line.drawn.end, 7, 7);
    painter.setBrush(ink(line));
    painter.drawEllipse(*line.drawn.end, 3.25, 3.25);
  }
  painter.restore();
}

void ChartPainter::paintBest(QPainter& painter, const QRectF& plot) {
  if (!m_chart.m_best) return;
  const Theme& theme = Theme::of();
  for (const PanelLine& line : m_chart.m_lines) {
    if (line.line.id != m_chart.m_best->line || !line.line.visible) continue;
    const QPointF at(plot.left() + m_chart.m_axis->place(m_chart.m_best->x) * plot.width(),
                     plot.top() + m_chart.m_scale.toPixel(m_chart.m_best->y));
    if (!plot.adjusted(0, -4, 0, 4).contains(at)) continue;
    const QColor colour = ink(line);
    painter.setPen(QPen(colour, 1.4));
    painter.setBrush(colour);
    painter.drawEllipse(at, 3, 3);
    painter.setPen(Qt::NoPen);
    painter.setFont(theme.numberFont(FontRole::axis));
    const double height = QFontMetricsF(painter.font()).height();
    const double width = QFontMetricsF(painter.font()).horizontalAdvance(m_chart.m_best->text) + 2;
    const double first = plot.left() + 6;  // clear of the axis' numbers, where a young run has its best
    const double left = std::clamp(at.x() - width / 2, first, std::max(first, plot.right() - width));
    // Below the point where there is room and nothing is written yet, else above it.
    const QRectF below(left, at.y() + 18, width, height), above(left, at.y() - 18 - height, width, height);
    const bool fits = below.bottom() < plot.bottom() && take(below);
    const double direction = fits ? 1 : -1;
    painter.drawPolygon(
        QPolygonF{at + QPointF(0, direction * 8), at + QPointF(-5, direction * 15), at + QPointF(5, direction * 15)});
    painter.setPen(m_palette[Colour::text]);
    painter.drawText(fits ? below : above, Qt::AlignVCenter, m_chart.m_best->text);
  }
}

void ChartPainter::paintEmpty(QPainter& painter, const QRectF& plot) {
  if (m_chart.m_empty.isEmpty()) return;
  for (const PanelLine& line : m_chart.m_lines) {
    if (line.line.visible && line.line.kind != LineKind::planned && !line.data.columns.columns.empty()) return;
  }
  painter.setFont(Theme::of().font(FontRole::body));
  painter.setPen(m_palette[Colour::text3]);
  painter.drawText(plot, Qt::AlignCenter | Qt::TextWordWrap, m_chart.m_empty);
}

}  // namespace loom
