#pragma once
// The pictures beside the curves of the tab Large batch: what of a step's time is waiting, how large gradients are, the
// trust ratio of each layer, what each bucket took. Each shows what it was given, and nothing where it was given
// nothing.
#include <QTableWidget>
#include <QWidget>

#include "app/large_batch_figures.h"

namespace loom {

class Theme;

// A bar whose parts are shares of a step, with their names below.
class WaitBar : public QWidget {
  Q_OBJECT

 public:
  explicit WaitBar(QWidget* parent = nullptr);
  void setShares(const WaitingShares& shares);
  QSize sizeHint() const override { return {280, 58}; }
  QSize minimumSizeHint() const override { return {200, 58}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  WaitingShares m_shares;
};

// Bars by power of 2; those that f16 would round to 0 are red, and what its scale saves of them is hatched.
class MagnitudeBars : public QWidget {
  Q_OBJECT

 public:
  explicit MagnitudeBars(QWidget* parent = nullptr);
  void setMagnitudes(const std::optional<GradientMagnitudes>& magnitudes);
  QSize sizeHint() const override { return {280, 120}; }
  QSize minimumSizeHint() const override { return {200, 110}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;  // the power under the mouse

 private:
  QRectF frame() const;
  std::pair<int, int> shown() const;  // of the counts, the first that is not 0 and the one behind the last
  std::optional<GradientMagnitudes> m_magnitudes;
};

// A row a layer: name, its place on a logarithmic scale that all share, ratio. Rows stay while figures change.
class RatioTable : public QTableWidget {
  Q_OBJECT

 public:
  RatioTable(const Theme& theme, QWidget* parent = nullptr);
  void setRatios(const std::vector<LayerRatio>& ratios);

 private:
  const Theme& m_theme;
};

// A row a bucket: what travels together, how it is added up, bytes, time predicted beside measured.
class BucketTable : public QTableWidget {
  Q_OBJECT

 public:
  BucketTable(const Theme& theme, QWidget* parent = nullptr);
  void setBuckets(const std::vector<ExchangedBucket>& buckets);

 private:
  const Theme& m_theme;
};

}  // namespace loom
