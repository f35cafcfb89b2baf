#include "widgets/chart/stroke_raster.h"

#include <algorithm>
#include <cmath>

namespace loom {
namespace {

constexpr float kNone = 1e9f;

// All four parts of a premultiplied colour times share of 255.
QRgb times(QRgb colour, unsigned share) {
  unsigned two = (colour & 0xff00ff) * share, other = ((colour >> 8) & 0xff00ff) * share;
  two = (two + ((two >> 8) & 0xff00ff) + 0x800080) >> 8;
  other = other + ((other >> 8) & 0xff00ff) + 0x800080;
  return (two & 0xff00ff) | (other & 0xff00ff00);
}

}  // namespace

StrokeRaster::StrokeRaster(QImage& picture, double ratio, int strips)
    : m_pixels(reinterpret_cast<QRgb*>(picture.bits())),
      m_stride(static_cast<std::ptrdiff_t>(picture.bytesPerLine() / 4)),
      m_width(picture.width()),
      m_height(picture.height()),
      m_strips(strips),
      m_ratio(ratio),
      m_top(static_cast<std::size_t>(m_width * strips), kNone),
      m_bottom(m_top.size(), -kNone),
      m_first(m_width * strips) {}

void StrokeRaster::stroke(const QPolygonF& points, const QPen& pen) {
  if (points.isEmpty() || m_width == 0) return;
  if (pen.style() != Qt::SolidLine && !pen.dashPattern().isEmpty()) return dashed(points, pen);
  const double radius = pen.widthF() * m_ratio / 2;
  for (qsizetype i = 1; i < points.size(); ++i) capsule(points[i - 1] * m_ratio, points[i] * m_ratio, radius);
  paint(qPremultiply(pen.color().rgba()));
}

// Each dash by itself: two that stand above each other in a steep part have a gap between them.
void StrokeRaster::dashed(const QPolygonF& points, const QPen& pen) {
  const QVector<qreal> pattern = pen.dashPattern();
  const double width = pen.widthF() * m_ratio, radius = width / 2;
  const QRgb colour = qPremultiply(pen.color().rgba());
  qsizetype part = 0;
  double left = pattern[0] * width;
  for (qsizetype i = 1; i < points.size(); ++i) {
    const QPointF from = points[i - 1] * m_ratio, way = points[i] * m_ratio - from;
    const double length = std::hypot(way.x(), way.y());
    for (double done = 0; done < length;) {
      const double step = std::min(left, length - done);
      const bool drawn = part % 2 == 0;
      if (drawn) capsule(from + way * (done / length), from + way * ((done + step) / length), radius);
      done += step;
      left -= step;
      if (left > 1e-9) continue;
      if (drawn) paint(colour);
      part = (part + 1) % pattern.size();
      left = std::max(0.1, pattern[part] * width);
    }
  }
  paint(colour);
}

// All that is not further than `radius` from the straight line: in each strip from the upper to the lower tangent, or
// round an end.
void StrokeRaster::capsule(const QPointF& from, const QPointF& to, double radius) {
  const double strips = m_strips;
  const int first = std::max(0, static_cast<int>(std::ceil(std::max((from.x() - radius) * strips - 0.5, -1.0)))),
            last = std::min(m_width * m_strips - 1,
                            static_cast<int>(std::floor(std::min((to.x() + radius) * strips - 0.5, 1e9))));
  if (first > last) return;
  m_first = std::min(m_first, first);
  m_last = std::max(m_last, last);
  const double dx = to.x() - from.x(), slope = dx > 1e-6 ? (to.y() - from.y()) / dx : 0,
               root = std::sqrt(1 + slope * slope), high = radius * root, aside = radius * slope / root;
  const bool steep = dx <= 1e-6;
  const QPointF& above = from.y() < to.y() ? from : to;
  const QPointF& below = from.y() < to.y() ? to : from;
  const auto reach = [&](const QPointF& end, double x) {
    return std::sqrt(std::max(0.0, radius * radius - (x - end.x()) * (x - end.x())));
  };
  for (int strip = first; strip <= last; ++strip) {
    const double x = (strip + 0.5) / strips;
    double top = 0, bottom = 0;
    if (steep) {
      top = above.y() - reach(above, x);
      bottom = below.y() + reach(below, x);
    } else {
      const double middle = from.y() + slope * (x - from.x());
      const double upper = x - aside, lower = x + aside;  // where the tangents touch
      top = upper < from.x() ? from.y() - reach(from, x) : upper > to.x() ? to.y() - reach(to, x) : middle - high;
      bottom = lower < from.x() ? from.y() + reach(from, x) : lower > to.x() ? to.y() + reach(to, x) : middle + high;
    }
    float &least = m_top[static_cast<std::size_t>(strip)], &most = m_bottom[static_cast<std::size_t>(strip)];
    least = std::min(least, static_cast<float>(top));
    most = std::max(most, static_cast<float>(bottom));
  }
}

void StrokeRaster::paint(QRgb colour) {
  for (int column = m_first / m_strips; column <= m_last / m_strips && m_last >= 0; ++column)
    paintColumn(column, colour);
  m_first = m_width * m_strips;
  m_last = -1;
}

void StrokeRaster::paintColumn(int column, QRgb colour) {
  float* const tops = m_top.data() + static_cast<std::ptrdiff_t>(column) * m_strips;
  float* const bottoms = m_bottom.data() + static_cast<std::ptrdiff_t>(column) * m_strips;
  float least = kNone, most = -kNone, fullFrom = -kNone, fullTo = kNone;
  for (int i = 0; i < m_strips; ++i) {
    tops[i] = std::max(tops[i], -1.0f);
    bottoms[i] = std::min(bottoms[i], static_cast<float>(m_height + 1));
    least = std::min(least, tops[i]);
    most = std::max(most, bottoms[i]);
    fullFrom = std::max(fullFrom, tops[i]);
    fullTo = std::min(fullTo, bottoms[i]);
  }
  const int begin = std::max(0, static_cast<int>(std::floor(least))),
            end = std::min(m_height, static_cast<int>(std::ceil(most)));
  const int solid = std::clamp(static_cast<int>(std::ceil(fullFrom)), begin, std::max(begin, end)),
            solidEnd = std::clamp(static_cast<int>(std::floor(fullTo)), solid, std::max(solid, end));
  const auto partly = [&](int from, int to) {
    for (int row = from; row < to; ++row) {
      float covered = 0;
      for (int i = 0; i < m_strips; ++i)
        covered += std::clamp(
            std::min(bottoms[i], static_cast<float>(row + 1)) - std::max(tops[i], static_cast<float>(row)), 0.0f, 1.0f);
      blend(column, row, colour, static_cast<double>(covered) / m_strips);
    }
  };
  partly(begin, solid);
  QRgb* at = m_pixels + solid * m_stride + column;
  for (int row = solid; row < solidEnd; ++row, at += m_stride)
    *at = qAlpha(colour) == 255 ? colour : colour + times(*at, 255u - static_cast<unsigned>(qAlpha(colour)));
  partly(solidEnd, end);
  std::fill(tops, tops + m_strips, kNone);
  std::fill(bottoms, bottoms + m_strips, -kNone);
}

void StrokeRaster::blend(int column, int row, QRgb colour, double coverage) {
  const auto share = static_cast<unsigned>(coverage * 255 + 0.5);
  if (share == 0) return;
  const QRgb over = times(colour, share);
  QRgb& at = m_pixels[row * m_stride + column];
  at = over + times(at, 255u - static_cast<unsigned>(qAlpha(over)));
}

void StrokeRaster::area(const QPolygonF& upper, const QPolygonF& lower, const QColor& colour) {
  const QRgb ink = qPremultiply(colour.rgba());
  for (qsizetype i = 1; i < std::min(upper.size(), lower.size()); ++i) {
    const QPointF from = upper[i - 1] * m_ratio, to = upper[i] * m_ratio;
    const double below = lower[i - 1].y() * m_ratio, belowTo = lower[i].y() * m_ratio, way = to.x() - from.x();
    // Columns whose middle lies between them: none is painted twice.
    const int first = std::max(0, static_cast<int>(std::ceil(std::max(from.x() - 0.5, -1.0)))),
              end = std::min(m_width, static_cast<int>(std::ceil(std::min(to.x() - 0.5, 1e9))));
    for (int column = first; column < end; ++column) {
      const double share = way > 0 ? (column + 0.5 - from.x()) / way : 0;
      const auto strip = static_cast<std::size_t>(column) * static_cast<std::size_t>(m_strips);
      const double a = from.y() + share * (to.y() - from.y()), b = below + share * (belowTo - below);
      std::fill_n(m_top.begin() + static_cast<std::ptrdiff_t>(strip), m_strips, static_cast<float>(std::min(a, b)));
      std::fill_n(m_bottom.begin() + static_cast<std::ptrdiff_t>(strip), m_strips, static_cast<float>(std::max(a, b)));
      paintColumn(column, ink);
    }
  }
}

}  // namespace loom
