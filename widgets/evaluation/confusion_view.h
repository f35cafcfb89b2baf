#pragma once
// A confusion matrix as a heat map: rows true, columns predicted, sums at both edges. A click or the arrow keys choose
// a cell, a click on a name its row or column, Escape none. Beyond kMost classes those that are confused most stand
// there, the others together as one.
#include <QImage>
#include <QStringList>
#include <QWidget>
#include <optional>
#include <vector>

#include "engine/evaluation/confusion.h"

namespace loom {

class ConfusionView : public QWidget {
  Q_OBJECT

 public:
  static constexpr int kMost = 30;
  static constexpr int kAll = -1;  // of a chosen cell: the whole row or column
  enum class Order { byClass, byRecall, byMixUps };
  struct Cell {
    int truth = kAll, predicted = kAll;
    bool operator==(const Cell&) const = default;
  };

  explicit ConfusionView(QWidget* parent = nullptr);
  void setMatrix(const QStringList& words, const std::vector<ConfusionMatrix::Cell>& cells);
  void setOrder(Order order);
  void setPercent(bool percent);      // of the row, in place of counts
  void setWrongOnly(bool wrongOnly);  // the diagonal in grey
  void setChosen(std::optional<Cell> cell);
  const std::optional<Cell>& chosen() const { return m_chosen; }

  std::int64_t count(Cell cell) const;  // of a row or column all of it
  QString words(Cell cell) const;       // "True 4, predicted 9"
  bool foldsClasses() const { return m_words.size() > kMost; }
  QRect cellRect(int truth, int predicted) const;  // null where the classes do not stand there
  QImage toImage(double ratio) const;              // on paper
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void chosenChanged();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Places;
  Places places(int width) const;
  void arrange();
  std::optional<Cell> cellAt(const QPoint& position) const;
  void paintOn(QPainter& painter, int width, bool focused) const;
  void paintCell(QPainter& painter, const QRectF& rect, int row, int column) const;
  std::int64_t shown(int row, int column) const { return m_counts[static_cast<std::size_t>(row * side() + column)]; }
  int side() const { return static_cast<int>(m_shown.size()) + (m_folded ? 1 : 0); }
  QString nameOf(int place) const;

  QStringList m_words;
  std::vector<ConfusionMatrix::Cell> m_cells;
  std::vector<std::int64_t> m_ofTruth, m_ofPredicted, m_right;  // by class
  std::vector<int> m_shown;                                     // classes in the order of rows
  bool m_folded = false;                                        // others stand together behind them
  std::vector<std::int64_t> m_counts, m_rowSums, m_columnSums;  // as shown
  std::int64_t m_total = 0, m_mostWrong = 0;
  Order m_order = Order::byClass;
  bool m_percent = false, m_wrongOnly = false;
  std::optional<Cell> m_chosen;
};

}  // namespace loom
