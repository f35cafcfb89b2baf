#pragma once
// A small chart of what is no curve over steps: lines, bars or points between two axes. What is under the pointer is
// told in words.
#include <QImage>
#include <QList>
#include <QPolygonF>
#include <QString>
#include <QWidget>
#include <functional>

#include "widgets/chart/ticks.h"

namespace loom {

struct Plot {
  struct Line {
    QString name;
    QPolygonF points;
    int colour = 0;  // of curves
    bool strong = false;
  };
  struct Bar {
    double from = 0, to = 1, value = 0;
    double claimed = 0;  // drawn behind it, from `value` up, where it is more
    QString words;
  };
  QString title, subtitle, xName, yName;
  Interval x, y;
  QList<Line> lines;
  QList<Bar> bars;
  QPolygonF points;
  bool diagonal = false;  // what would be right, from corner to corner
  bool zero = false;      // a line at y = 0
  QString empty;          // said where there is nothing
  bool isEmpty() const { return lines.isEmpty() && bars.isEmpty() && points.isEmpty(); }
};

class PlotView : public QWidget {
  Q_OBJECT

 public:
  explicit PlotView(QWidget* parent = nullptr);
  void setPlot(Plot plot);
  const Plot& plot() const { return m_plot; }
  QImage toImage(QSize size, double ratio) const;  // on paper
  QSize sizeHint() const override { return {320, 240}; }
  QSize minimumSizeHint() const override { return {180, 170}; }
  QPointF placeOf(const QPointF& value) const;  // in the widget

 Q_SIGNALS:
  void pointClicked(int index);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  QRectF area(const QSizeF& size) const;
  QPointF place(const QRectF& area, const QPointF& value) const;
  void paintOn(QPainter& painter, const QSizeF& size) const;
  void paintAxes(QPainter& painter, const QRectF& area) const;
  void paintData(QPainter& painter, const QRectF& area) const;
  int pointNear(const QPointF& position) const;
  QString wordsAt(const QPointF& position) const;

  Plot m_plot;
};

}  // namespace loom
