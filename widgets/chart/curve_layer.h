#pragma once
// The curves of a panel, drawn by Qt Charts: bands (area series) under lines (line series), at most two points a pixel
// column, no animation, no OpenGL. The charts stand in scenes that no view shows and are rendered into the panel's
// picture, so that moving the cursor repaints nothing of them. Points are in pixels of the plot. Of more than a few
// lines a chart would take several frames: they are drawn without one (stroke_raster.h).
#include <QColor>
#include <QPen>
#include <QPolygonF>
#include <QVector>
#include <memory>
#include <vector>

class QPainter;

namespace loom {

class CurveLayer {
 public:
  CurveLayer();
  ~CurveLayer();

  // In drawing order, from below to above; bands lie under all lines. `lines`: about how many there will be.
  void begin(const QSizeF& plot, std::size_t lines);
  void addBand(const QVector<QPointF>& upper, const QVector<QPointF>& lower, const QColor& colour);
  void addLine(const QVector<QPointF>& points, const QPen& pen);
  void render(QPainter& painter, const QRectF& target);

 private:
  struct Sheet;
  struct Stroke {
    QPolygonF points;
    QPen pen;
  };
  struct Area {
    QPolygonF upper, lower;
    QColor colour;
  };
  void renderByHand(QPainter& painter, const QRectF& target) const;
  void renderStrokes(QPainter& painter, const QRectF& target) const;
  std::unique_ptr<Sheet> m_bands, m_lines;
  QSizeF m_size;
  bool m_byHand = false;
  std::vector<Stroke> m_strokes;
  std::vector<Area> m_areas;
};

}  // namespace loom
