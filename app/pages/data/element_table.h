#pragma once
// The numbers of a vector, each as the column of the file that it is: name, histogram, minimum, mean and maximum; where
// there is little room in two lines. A click chooses one, and so do the arrows, Home and End.
#include <QStringList>
#include <QWidget>
#include <cstdint>
#include <vector>

#include "engine/data/stats.h"

class QPainter;

namespace loom {

// Bars side by side over the whole of `place`, the highest as high as it; what was met at all is seen.
void paintHistogram(QPainter& painter, const QRectF& place, const std::vector<std::int64_t>& counts,
                    const QColor& colour);

class ElementTable : public QWidget {
  Q_OBJECT

 public:
  static constexpr int kInset = 6;  // of what is written, from the edge of its row

  explicit ElementTable(QWidget* parent = nullptr);

  // `stats`: of the vector; names in its order.
  void setContent(const QStringList& names, const VariableStats& stats);
  int heightIn(int width) const;
  int chosen() const { return m_chosen; }
  void setChosen(int element);  // -1 = none; told to nobody
  // "rooms: 1 to 3, mean 1.98, deviation 0.81"
  QString facts(int element) const;
  QRect place(int element) const;

  QSize sizeHint() const override { return {220, heightIn(width())}; }

 Q_SIGNALS:
  void elementChosen(int element);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  bool event(QEvent* event) override;

 private:
  bool wide() const { return width() >= kWide; }
  int pitch() const;
  int headHeight() const;
  int elementAt(const QPoint& at) const;
  void choose(int element);
  void paintWide(QPainter& painter, int element);
  void paintNarrow(QPainter& painter, int element);

  static constexpr int kWide = 320;
  QStringList m_names;
  VariableStats m_stats;
  int m_shown = 0, m_chosen = -1, m_hovered = -1;
};

}  // namespace loom
