#pragma once
// How long ranks take to add up against the size of the sum, or what passes their links meanwhile: a line a way, both
// axes logarithmic. Ways that are the fastest somewhere are named; where another one becomes it is marked. The mouse or
// the arrow keys move one cursor, beside which all values stand.
#include <QWidget>

#include "app/measured_sums.h"

namespace loom {

class ChartTooltip;

class SumsPlot : public QWidget {
  Q_OBJECT

 public:
  enum class Shown { time, bandwidth };
  explicit SumsPlot(QWidget* parent = nullptr);
  void setSums(const MeasuredSums& sums);
  void setShown(Shown shown);
  void setWords(const QString& words);  // where there is nothing to draw
  // Of the cursor: the place among the sizes, -1 = none.
  int cursor() const { return m_cursor; }
  QString cursorWords() const;  // "1.00 MiB: Ring 1.2 ms, Tree 1.4 ms": for the clipboard and screen readers
  QPointF placeOf(std::size_t curve, std::size_t point) const;

  QSize sizeHint() const override { return {520, 260}; }
  QSize minimumSizeHint() const override { return {280, 200}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  struct Span {
    double low = 1, high = 10;
    double place(double value) const;  // 0 to 1, on a logarithmic axis
  };
  QRectF frame() const;
  double valueOf(const SumCurve::Point& point) const;
  QString textOf(double value) const;
  Span xSpan() const;
  Span ySpan() const;
  std::vector<double> sizes() const;
  void setCursor(int at, double y);
  void placeTooltip();
  void paintAxes(QPainter& painter) const;
  void paintLines(QPainter& painter) const;
  void paintNames(QPainter& painter) const;
  void paintCrossings(QPainter& painter) const;

  MeasuredSums m_sums;
  std::vector<bool> m_best;  // by curve: the fastest somewhere
  Shown m_shown = Shown::time;
  QString m_words;
  int m_cursor = -1, m_nearest = -1;
  ChartTooltip* m_tooltip;
};

}  // namespace loom
