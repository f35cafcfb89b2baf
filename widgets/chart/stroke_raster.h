#pragma once
// Strokes and bands of curves, drawn column by column straight into a picture: what QPainter does for any path takes
// ten times as long for a hundred lines of two points a column. Of a stroke each column is cut into some strips; in a
// strip it covers what lies between its least and its largest y, edges in parts of a pixel. Pure, any thread.
#include <QColor>
#include <QImage>
#include <QPen>
#include <QPolygonF>
#include <vector>

namespace loom {

class StrokeRaster {
 public:
  // Into `picture`, ARGB32 premultiplied, `ratio` of whose pixels are one unit of the points. `strips` a column: 4 are
  // smooth in every direction, 1 is enough where there are very many lines.
  StrokeRaster(QImage& picture, double ratio, int strips);
  // x never falls from point to point. Width, colour and dashes are the pen's.
  void stroke(const QPolygonF& points, const QPen& pen);
  // Between two lines whose points stand above each other.
  void area(const QPolygonF& upper, const QPolygonF& lower, const QColor& colour);

 private:
  void capsule(const QPointF& from, const QPointF& to, double radius);
  void dashed(const QPolygonF& points, const QPen& pen);
  void paint(QRgb colour);  // what the capsules cover, and forgets them
  void paintColumn(int column, QRgb colour);
  void blend(int column, int row, QRgb colour, double coverage);

  QRgb* m_pixels;
  std::ptrdiff_t m_stride;
  int m_width, m_height, m_strips;
  double m_ratio;
  std::vector<float> m_top, m_bottom;  // of each strip
  int m_first = 0, m_last = -1;        // strips that are covered
};

}  // namespace loom
