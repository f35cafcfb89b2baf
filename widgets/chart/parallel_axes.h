#pragma once
// Settings that differ and what came of them: an axis a setting, a line a run in the run's colour, the last axis the
// result. Values of an axis that are all numbers stand at their place (logarithmic where they span much), others one
// under the other.
#include <QWidget>
#include <optional>
#include <vector>

class QPainter;
class QPainterPath;

namespace loom {

struct ParallelValue {
  QString text;                  // as its label says it
  std::optional<double> number;  // nothing or NaN: stands at the foot of the axis
};

struct ParallelLine {
  QString id;
  int colour = 0;
  std::vector<ParallelValue> values;  // one an axis
};

class ParallelAxes : public QWidget {
  Q_OBJECT

 public:
  explicit ParallelAxes(QWidget* parent = nullptr);
  void setTitle(const QString& title, const QString& subtitle);
  void setContent(std::vector<QString> axes, std::vector<ParallelLine> lines);
  void setHighlighted(const QString& id);
  const std::vector<QString>& axes() const { return m_axes; }
  const std::vector<ParallelLine>& lines() const { return m_lines; }
  // Where a line crosses an axis, in the widget.
  QPointF crossing(std::size_t line, std::size_t axis) const;

  QSize sizeHint() const override { return {340, 220}; }
  QSize minimumSizeHint() const override { return {220, 90}; }

 Q_SIGNALS:
  void lineHovered(const QString& id);  // empty: none
  void lineClicked(const QString& id);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  void place();
  QRectF plot() const;
  double axisX(std::size_t axis) const;
  QPainterPath pathOf(std::size_t line) const;
  QString lineAt(const QPointF& at) const;
  void paintAxis(QPainter& painter, std::size_t axis) const;
  void paintLine(QPainter& painter, std::size_t line, bool strong) const;

  QString m_title, m_subtitle, m_highlighted, m_hovered;
  std::vector<QString> m_axes;
  std::vector<ParallelLine> m_lines;
  std::vector<std::vector<double>> m_heights;  // by axis and line, 0 at the foot to 1
};

}  // namespace loom
