#pragma once
// Ranks of a run, a bar each: what of a step is computing, exchanging, waiting; the slowest stands out and is named.
// Where there is one rank, or nothing was told, a sentence.
#include <QWidget>

#include "app/pages/training/rank_shares.h"

class QLabel;
class QPainter;

namespace loom {

class RankBars : public QWidget {
  Q_OBJECT

 public:
  explicit RankBars(QWidget* parent = nullptr);
  void setShares(const RankShares& shares);
  // Of rank `rank`'s bar, in the widget; null where it has none. Of many ranks a bar is that of the slowest of some.
  QRectF barOf(int rank) const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {180, sizeHint().height()}; }

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;  // the bar under the mouse in words

 private:
  struct Bar {
    int rank = 0;
    QRectF place;
  };
  std::vector<Bar> bars() const;
  int lineHeight() const;
  void paintLegend(QPainter& painter, double top) const;
  RankShares m_shares;
};

// The bars below their heading, and the words below them.
class RankCard : public QWidget {
  Q_OBJECT

 public:
  explicit RankCard(QWidget* parent = nullptr);
  void setShares(const RankShares& shares);

 private:
  RankBars* m_bars;
  QLabel *m_count, *m_words, *m_consequence;
  QWidget* m_sign;
};

}  // namespace loom
