#pragma once
// How numbers are distributed over the steps of a run: a column a step, darker where more of them lie, with the lines
// of quantiles; the value axis is linear near 0 and logarithmic further out. What is under the pointer is told in
// words; a click chooses a step.
#include <QImage>
#include <QString>
#include <QWidget>
#include <memory>
#include <vector>

#include "engine/run/layer_record.h"

namespace loom {

struct DistributionColumn {
  std::int64_t step = 0;
  const ValueDistribution* values = nullptr;  // kept alive by `owner`
};

class DistributionView : public QWidget {
  Q_OBJECT

 public:
  static constexpr double kQuantiles[] = {0.05, 0.25, 0.5, 0.75, 0.95};
  explicit DistributionView(QWidget* parent = nullptr);
  void setColumns(const QString& title, std::vector<DistributionColumn> columns, std::shared_ptr<const void> owner);
  void setShown(std::int64_t step);  // where the cursor stands; -1: nowhere
  void setEmptyText(const QString& text);
  QString wordsAt(const QPointF& position) const;  // empty: nothing there
  QPointF placeOf(std::int64_t step, double value) const;
  QImage toImage(QSize size, double ratio) const;  // on paper
  QString toCsv() const;                           // step, count, not_finite, least, quantiles, most, mean, deviation
  QSize sizeHint() const override { return {480, 320}; }
  QSize minimumSizeHint() const override { return {240, 200}; }

 Q_SIGNALS:
  void stepClicked(qint64 step);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  QRectF area(const QSizeF& size) const;
  double bent(double value) const;  // linear near 0
  double xOf(const QRectF& area, std::int64_t step) const;
  double yOf(const QRectF& area, double value) const;
  std::pair<double, double> columnAt(const QRectF& area, std::size_t index) const;  // its left and right
  int indexAt(const QPointF& position) const;
  void paintOn(QPainter& painter, const QSizeF& size) const;
  void paintColumns(QPainter& painter, const QRectF& area) const;
  void paintAxes(QPainter& painter, const QRectF& area) const;

  QString m_title, m_emptyText;
  std::vector<DistributionColumn> m_columns;
  std::shared_ptr<const void> m_owner;
  double m_scale = 1, m_low = -1, m_high = 1;  // of the value axis, low and high bent
  std::int64_t m_shown = -1;
};

}  // namespace loom
