#pragma once
// Draws a panel into any painter (screen, picture, SVG) with any palette: grid, curves, marks, labels at the line ends,
// axes.
#include <QRectF>
#include <QString>
#include <cmath>
#include <vector>

#include "widgets/theme/tokens.h"

class QPainter;

namespace loom {

class LineChart;
struct PanelLine;
struct ChartLine;

// Vertical and horizontal hairlines stand on device pixels.
inline double snapped(double at) {
  return std::floor(at) + 0.5;
}

class ChartPainter {
 public:
  ChartPainter(const LineChart& chart, const Palette& palette, bool dark);

  // Everything but the cursor, which moves too often.
  void paint(QPainter& painter, const QRectF& area);
  void paintCursor(QPainter& painter, const QRectF& area);

  QColor colourOf(const ChartLine& line) const;

 private:
  struct Flag {
    double x;  // pixel
    QString text, icon;
  };
  std::vector<Flag> flags(const QRectF& plot) const;
  void paintTitle(QPainter& painter, const QRectF& area);
  void paintGrid(QPainter& painter, const QRectF& plot);
  void paintLive(QPainter& painter, const QRectF& plot);
  void paintCurves(QPainter& painter, const QRectF& plot);
  void paintMarks(QPainter& painter, const QRectF& plot);
  void paintEventLines(QPainter& painter, const QRectF& plot);
  void paintFlags(QPainter& painter, const QRectF& plot);
  void paintBest(QPainter& painter, const QRectF& plot);
  void paintEnds(QPainter& painter, const QRectF& area, const QRectF& plot);
  void paintCursorValues(QPainter& painter, const QRectF& area);
  void paintOutside(QPainter& painter, const QRectF& plot);
  void paintEmpty(QPainter& painter, const QRectF& plot);
  // Mixed with the ground and opaque: where translucent strokes meet, the joint would be darker.
  QColor ink(const PanelLine& line, double opacity = 1) const;
  QColor mixed(const QColor& colour, double opacity) const;
  double strength(const PanelLine& line) const;
  // False where something was written already, else the place is taken.
  bool take(const QRectF& place);
  bool faded(const PanelLine& line) const;

  const LineChart& m_chart;
  const Palette& m_palette;
  bool m_dark;
  std::vector<QRectF> m_taken;  // by words and signs on the plot
};

// The sign of a line in labels and tooltips: filled disc, hollow ring for validation, a bar for stacked parts.
void paintLineSign(QPainter& painter, const QPointF& centre, const ChartLine& line, const QColor& colour,
                   const QColor& ground);

}  // namespace loom
