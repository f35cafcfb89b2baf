#pragma once
// One setting against what came of it: a dot a run. A rectangle that is dragged brushes a range of both; a double click
// takes it away, Esc all brushes. What lies outside of any brush is grey.
#include <QImage>
#include <QWidget>
#include <optional>
#include <vector>

#include "widgets/chart/parallel_axes.h"

namespace loom {

class ScatterPlot : public QWidget {
  Q_OBJECT

 public:
  explicit ScatterPlot(QWidget* parent = nullptr);
  // The lines of ParallelAxes with these axes, of which `x` and `y` are shown.
  void setContent(const std::vector<ParallelAxes::Axis>& axes, ParallelLines lines, std::size_t x, std::size_t y);
  void setBrushes(std::vector<AxisBrush> brushes);  // says nothing
  const std::vector<AxisBrush>& brushes() const { return m_brushes; }
  void setHighlighted(const QString& id);
  QPointF dot(std::size_t line) const;  // in the widget
  QRectF plot() const;
  QString xTitle() const { return m_x.title(); }
  const std::vector<ParallelLine>& lines() const { return *m_lines; }

  QSize sizeHint() const override { return {340, 220}; }
  QSize minimumSizeHint() const override { return {220, 90}; }

 Q_SIGNALS:
  void lineHovered(const QString& id);  // empty: none
  void lineClicked(const QString& id);
  void brushed(const std::vector<AxisBrush>& brushes);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  QString dotAt(const QPointF& at) const;
  void setOwnBrushes(const std::vector<std::optional<AxisBrush>>& own);
  void refreshInside();
  void render();
  void paintNumbers(QPainter& painter) const;

  std::vector<ParallelAxes::Axis> m_axes;
  ParallelLines m_lines = std::make_shared<const std::vector<ParallelLine>>();
  std::vector<QPointF> m_places;  // by line: x and y from 0 to 1
  std::vector<char> m_inside;
  std::vector<AxisBrush> m_brushes;
  ValueAxis m_x, m_y;
  QString m_highlighted, m_hovered;
  std::optional<QPointF> m_pressed;
  bool m_dragged = false;
  QImage m_picture;
};

}  // namespace loom
