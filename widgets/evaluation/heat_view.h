#pragma once
// A value over a plane: colours between its grid points, contour lines with the values that they stand for, a scale
// beside it. What is under the pointer is told in words. From values of which the largest is more than ten times the
// least it is drawn over their logarithm.
#include <QImage>
#include <QPointF>
#include <QString>
#include <QWidget>
#include <vector>

#include "widgets/chart/ticks.h"

namespace loom {

struct HeatMap {
  QString title, subtitle, xName, yName, valueName;
  Interval x{-1, 1}, y{-1, 1};  // of the first and the last grid point
  int columns = 0, rows = 0;    // at least 2 each, or none
  std::vector<double> values;   // row by row from y.low up, each from x.low up; NaN: not known, or not finite
  QString empty;                // said where there is nothing
  bool isEmpty() const;         // no value is finite
  double at(int column, int row) const { return values[static_cast<std::size_t>(row * columns + column)]; }
};

class HeatView : public QWidget {
  Q_OBJECT

 public:
  explicit HeatView(QWidget* parent = nullptr);
  void setMap(HeatMap map);
  const HeatMap& map() const { return m_map; }
  const std::vector<double>& levels() const { return m_levels; }  // of the contour lines, ascending
  QPointF placeOf(const QPointF& value) const;                    // in the widget
  QString wordsAt(const QPointF& position) const;                 // of the nearest grid point; empty beside the plane
  QImage toImage(QSize size, double ratio) const;                 // on paper

  QSize sizeHint() const override { return {460, 360}; }
  QSize minimumSizeHint() const override { return {260, 220}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  QRectF area(const QSizeF& size) const;
  QPointF place(const QRectF& area, const QPointF& value) const;
  double shareOf(double value) const;  // of the way from the least to the largest
  double between(double column, double row) const;
  QColor colourOf(double value) const;
  void paintOn(QPainter& painter, const QSizeF& size) const;
  void paintPlane(QPainter& painter, const QRectF& area) const;
  void paintContours(QPainter& painter, const QRectF& area) const;
  void paintAxes(QPainter& painter, const QRectF& area) const;
  void paintScale(QPainter& painter, const QRectF& area) const;

  HeatMap m_map;
  double m_least = 0, m_most = 1;
  bool m_logarithmic = false;
  std::vector<double> m_levels;
};

}  // namespace loom
