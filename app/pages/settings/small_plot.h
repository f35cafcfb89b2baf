#pragma once
// One curve over a logarithmic axis with a few marks, beside words that say what it means. For measurements of the
// Settings page; runs have the charts of widgets/chart.
#include <QString>
#include <QWidget>
#include <optional>
#include <vector>

class QPainter;

namespace loom {

class SmallPlot : public QWidget {
  Q_OBJECT

 public:
  struct Mark {
    double x = 0;
    bool dot = false;  // on the curve, else a line through all
  };
  // From `from` up to the next band the curve is of this name, which stands at its foot where there is room.
  struct Band {
    double from = 0;
    QString name;
  };
  explicit SmallPlot(const QString& name, QWidget* parent = nullptr);
  void setCurve(std::vector<QPointF> points, std::vector<QPointF> raw = {});  // x above 0; not finite: left out
  void setMarks(std::vector<Mark> marks);
  void setBands(std::vector<Band> bands);
  void setRange(double low, double high);   // of x, where it is known before the points; of none: as the points
  void setHeight(double low, double high);  // of y; else as the points
  void setWords(const QString& empty) { m_empty = empty, update(); }
  const std::vector<QPointF>& curve() const { return m_points; }

  QSize sizeHint() const override { return {260, 130}; }
  QSize minimumSizeHint() const override { return {160, 110}; }

 Q_SIGNALS:
  void pointed(int index);  // the point under the mouse; -1 = none

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  QRectF frame() const;
  void paintBands(QPainter& painter, const QRectF& area) const;
  double xOf(double value) const;
  std::vector<QPointF> m_points, m_raw;
  std::vector<Mark> m_marks;
  std::vector<Band> m_bands;
  std::optional<std::pair<double, double>> m_range, m_height;
  QString m_empty;
  int m_pointed = -1;
};

}  // namespace loom
