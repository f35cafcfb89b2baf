// The lines of ParallelAxes: few with QPainter, many column by column.
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "widgets/chart/parallel_axes.h"
#include "widgets/theme/theme.h"

namespace loom {
namespace {

constexpr double kThinLine = 1.75, kThickLine = 2.75, kDimmedLine = 0.35, kDotRadius = 2.5;

QColor between(const QColor& from, const QColor& to, double share) {
  const auto part = [&](float a, float b) { return static_cast<float>(a + (b - a) * share); };
  return QColor::fromRgbF(part(from.redF(), to.redF()), part(from.greenF(), to.greenF()),
                          part(from.blueF(), to.blueF()));
}

}  // namespace

QColor shadeColour(const QWidget& widget, double shade) {
  const Theme& theme = Theme::of(&widget);
  const QColor low = between(theme.colour(Colour::surface), theme.colour(Colour::axis), 0.55);
  return between(low, theme.colour(Colour::accent), std::clamp(shade, 0.0, 1.0));
}

// The curve between two axes, from 0 to 1 over the way.
double ParallelAxes::eased(double way) {
  return way * way * (3 - 2 * way);
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

QColor ParallelAxes::colourOf(const ParallelLine& line) const {
  return line.shade ? shadeColour(*this, *line.shade) : Theme::of(this).curveColour(line.colour);
}

void ParallelAxes::paintLine(QPainter& painter, std::size_t line, bool strong) const {
  const Theme& theme = Theme::of(this);
  const bool inside = m_inside[line];
  QColor colour = inside ? colourOf(lines()[line]) : theme.colour(Colour::axis);
  if ((!m_highlighted.isEmpty() && !strong) || !inside) colour.setAlphaF(static_cast<float>(kDimmedLine));
  QPen pen(colour, strong ? kThickLine : inside ? kThinLine : 1, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin);
  if (const auto dash = theme.curveDash(lines()[line].colour, pen.widthF()); inside && !dash.isEmpty())
    pen.setDashPattern(dash);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(pen);
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(pathOf(line));
  if (!inside) return;
  painter.setPen(QPen(theme.colour(Colour::surface), 1));
  painter.setBrush(colour);
  for (std::size_t axis = 0; axis < m_axes.size(); ++axis)
    painter.drawEllipse(crossing(line, axis), kDotRadius, kDotRadius);
}

void ParallelAxes::render() {
  const double ratio = devicePixelRatioF();
  m_picture = QImage(size() * ratio, QImage::Format_ARGB32_Premultiplied);
  m_picture.setDevicePixelRatio(ratio);
  m_picture.fill(Qt::transparent);
  if (lines().size() > kMany) return renderMany();
  QPainter painter(&m_picture);
  for (const bool inside : {false, true})
    for (std::size_t line = 0; line < lines().size(); ++line)
      if (static_cast<bool>(m_inside[line]) == inside && lines()[line].id != m_highlighted)
        paintLine(painter, line, false);
}

std::vector<std::size_t> ParallelAxes::fromGreyToBest() const {
  std::vector<std::pair<double, std::size_t>> order(lines().size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = {m_inside[i] ? lines()[i].shade.value_or(0) : -1, i};
  std::sort(order.begin(), order.end());
  std::vector<std::size_t> sorted;
  sorted.reserve(order.size());
  for (const auto& [shade, line] : order) sorted.push_back(line);
  return sorted;
}

// Shades in so many steps that an eye sees none.
std::vector<QRgb> ParallelAxes::coloursOfMany() const {
  constexpr int kSteps = 255;
  const Theme& theme = Theme::of(this);
  const QRgb grey = between(theme.colour(Colour::surface), theme.colour(Colour::axis), 0.28).rgba();
  std::vector<QRgb> shades;
  for (int i = 0; i <= kSteps; ++i) shades.push_back(shadeColour(*this, static_cast<double>(i) / kSteps).rgba());
  std::vector<QRgb> colours;
  colours.reserve(lines().size());
  for (std::size_t line = 0; line < lines().size(); ++line) {
    const std::optional<double>& shade = lines()[line].shade;
    colours.push_back(!m_inside[line] ? grey
                      : shade         ? shades[static_cast<std::size_t>(std::clamp(*shade, 0.0, 1.0) * kSteps + 0.5)]
                                      : colourOf(lines()[line]).rgba());
  }
  return colours;
}

// Column by column into the picture: QPainter would take ten frames for what is done here in one. Grey first, then by
// shade, so that the best lies on top.
void ParallelAxes::renderMany() {
  const double ratio = devicePixelRatioF();
  const std::vector<std::size_t> order = fromGreyToBest();
  const std::vector<QRgb> colours = coloursOfMany();
  const auto stride = static_cast<std::ptrdiff_t>(m_picture.bytesPerLine() / 4);
  auto* const pixels = reinterpret_cast<QRgb*>(m_picture.bits());
  const int width = m_picture.width(), height = m_picture.height();
  const auto crossings = [&](std::size_t axis) {
    std::vector<float> y(lines().size());
    for (std::size_t line = 0; line < y.size(); ++line) y[line] = static_cast<float>(crossing(line, axis).y() * ratio);
    return y;
  };
  std::vector<float> ease, here = crossings(0);
  for (std::size_t axis = 0; axis + 1 < m_axes.size(); ++axis) {
    const int left = static_cast<int>(std::lround(axisX(axis) * ratio)),
              right = std::min(width, static_cast<int>(std::lround(axisX(axis + 1) * ratio)));
    ease.resize(static_cast<std::size_t>(std::max(1, right - left + 1)));
    for (std::size_t i = 0; i < ease.size(); ++i)
      ease[i] = static_cast<float>(
          eased(static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(1, ease.size() - 1))));
    const std::vector<float> there = crossings(axis + 1);
    for (const std::size_t line : order) {
      const float from = here[line], way = there[line] - from;
      const QRgb colour = colours[line];
      int before = static_cast<int>(from);
      for (int x = left; x < right; ++x) {
        const int now = static_cast<int>(from + way * ease[static_cast<std::size_t>(x - left) + 1]);
        const int top = std::clamp(std::min(before, now), 0, height - 1),
                  bottom = std::clamp(std::max(before, now), 0, height - 1);
        QRgb* at = pixels + top * stride + x;
        for (int y = top; y <= bottom; ++y, at += stride) *at = colour;
        before = now;
      }
    }
    here = there;
  }
}

}  // namespace loom
