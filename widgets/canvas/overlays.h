#pragma once
// What lies over the canvas without being part of the drawing: a hint at the pointer, the sentence of a fault with its
// remedy, the map, and what an empty canvas says.
#include <QElapsedTimer>
#include <QFrame>
#include <QLabel>
#include <QPixmap>
#include <QTimer>
#include <functional>

#include "engine/network/analysis.h"

class QVBoxLayout;

namespace loom {

class Button;
class NetworkView;

// One sentence near the pointer: why a wire cannot go there. Goes by itself.
class CanvasHint : public QLabel {
  Q_OBJECT
 public:
  explicit CanvasHint(QWidget* canvas);
  void say(const QString& sentence, QPoint at, int milliseconds = 4000);
  void clear() {
    m_timer.stop();
    hide();
  }

 private:
  QTimer m_timer;
};

// The faults of one node beside it: sentence, disagreeing shapes, remedy as a button.
class FaultBubble : public QFrame {
  Q_OBJECT
 public:
  explicit FaultBubble(NetworkView& view);
  void refresh();              // for the node that is hovered or selected alone
  void setCovered(int right);  // pixels of the canvas that a drawer covers
  const std::vector<Problem>& problems() const { return m_problems; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void fill(const std::vector<Problem>& problems);
  QPoint place(const QRect& card) const;
  NetworkView& m_view;
  QVBoxLayout* m_rows;
  std::vector<Problem> m_problems;
  std::string m_node;  // which has them here: of a fault inside a unit its use
  int m_covered = 0;
};

// All cards as blocks, and the frame of what is seen; drag moves it.
class MiniMap : public QWidget {
  Q_OBJECT
 public:
  explicit MiniMap(NetworkView& view);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;

 private:
  QTransform toMap() const;
  const QPixmap& blocks();
  QPixmap m_blocks;
  std::size_t m_blocksOf = static_cast<std::size_t>(-1);
  QElapsedTimer m_blocksSince;
  QTimer m_blocksLater;
  QColor m_ground;
  void centre(QPointF at);
  NetworkView& m_view;
};

// A thin bar at the top while all cards are being arranged, with the way out of it; only where that takes its time.
class ArrangingBar : public QFrame {
  Q_OBJECT
 public:
  explicit ArrangingBar(NetworkView& view);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void follow();
  void appear();
  NetworkView& m_view;
  QTimer m_soon;
};

// A faint chain, one sentence, two buttons.
class EmptyCanvas : public QWidget {
  Q_OBJECT
 public:
  explicit EmptyCanvas(QWidget* canvas);
  QSize sizeHint() const override { return {380, 330}; }

 Q_SIGNALS:
  void startFromData();
  void openSample();

 protected:
  void paintEvent(QPaintEvent* event) override;
};

}  // namespace loom
