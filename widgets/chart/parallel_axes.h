#pragma once
// Settings that differ and what came of them: an axis a setting, a line a run, the last axis the result. Dragging along
// an axis brushes a range of it (its edges and itself are dragged on, a double click takes it away, Esc all of them);
// several brushes hold together, and what lies outside is grey. Thousands of lines are drawn within a frame.
#include <QImage>
#include <QWidget>
#include <memory>
#include <optional>
#include <vector>

#include "widgets/chart/value_axis.h"

class QPainter;
class QPainterPath;

namespace loom {

struct ParallelLine {
  QString id;
  int colour = 0;                 // of the run's curve
  std::optional<double> shade;    // 0 to 1 instead of it: from grey to the accent
  std::vector<AxisValue> values;  // one an axis
};

using ParallelLines = std::shared_ptr<const std::vector<ParallelLine>>;  // shared with all who draw them; never null

// A colour between grey and the accent.
QColor shadeColour(const QWidget& widget, double shade);

class ParallelAxes : public QWidget {
  Q_OBJECT

 public:
  struct Axis {
    QString key, title;
  };
  explicit ParallelAxes(QWidget* parent = nullptr);
  void setTitle(const QString& title, const QString& subtitle);
  void setContent(const std::vector<Axis>& axes, ParallelLines lines);
  void setHighlighted(const QString& id);
  void setBrushes(std::vector<AxisBrush> brushes);  // says nothing
  const std::vector<AxisBrush>& brushes() const { return m_brushes; }
  std::vector<QString> axes() const;  // their titles
  const std::vector<ParallelLine>& lines() const { return *m_lines; }
  bool accepts(const ParallelLine& line) const;  // lies within every brush whose axis is here
  int accepted() const { return m_accepted; }    // how many do
  // Where a line crosses an axis, in the widget.
  QPointF crossing(std::size_t line, std::size_t axis) const;
  QRectF plot() const;
  double axisX(std::size_t axis) const;

  QSize sizeHint() const override { return {340, 220}; }
  QSize minimumSizeHint() const override { return {220, 90}; }

 Q_SIGNALS:
  void lineHovered(const QString& id);  // empty: none
  void lineClicked(const QString& id);
  void brushed(const std::vector<AxisBrush>& brushes);  // by a person; with every move of the mouse

 protected:
  bool event(QEvent* event) override;  // tooltips: what an axis is
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  static constexpr std::size_t kMany = 30;  // lines from which they are thin and without dots: a tenth of the time
  static double eased(double way);
  // A drag: a new range, one edge of one, or the whole of it.
  struct Drag {
    std::size_t axis = 0;
    double from = 0, grip = 0;  // heights: the edge that stays; of a moved range where it was taken
    std::optional<std::pair<double, double>> moved;
    bool begun = false;
    QPointF pressed;
  };
  double easedY(std::size_t line, std::size_t gap, double x) const;
  std::optional<std::size_t> axisAt(const QPointF& at) const;
  double heightAt(double y) const;
  const AxisBrush* brushOf(std::size_t axis) const;
  void setBrush(std::size_t axis, const std::optional<AxisBrush>& brush);
  void refreshAccepted();
  QPainterPath pathOf(std::size_t line) const;
  QString lineAt(const QPointF& at) const;
  QColor colourOf(const ParallelLine& line) const;
  void render();
  void renderMany();
  std::vector<std::size_t> fromGreyToBest() const;
  std::vector<QRgb> coloursOfMany() const;
  void paintAxis(QPainter& painter, std::size_t axis) const;
  void paintBrush(QPainter& painter, std::size_t axis) const;
  void paintLine(QPainter& painter, std::size_t line, bool strong) const;

  QString m_title, m_subtitle, m_highlighted, m_hovered;
  std::vector<ValueAxis> m_axes;
  ParallelLines m_lines = std::make_shared<const std::vector<ParallelLine>>();
  std::vector<std::vector<double>> m_heights;  // by axis and line, 0 at the foot to 1
  std::vector<AxisBrush> m_brushes;            // those of axes that are not here stay
  std::vector<char> m_inside;                  // by line
  int m_accepted = 0;
  std::optional<Drag> m_drag;
  QImage m_picture;  // of the lines, without the highlighted one
};

}  // namespace loom
