#pragma once
// What flows along a wire, in a card over the canvas: from where to where, its shape, whose weights, the values. It
// does not take the keyboard. A click on it pins it; then Esc, its cross or another click on it lets it go.
#include <QWidget>

#include "widgets/preview/tensor_face.h"

class QLabel;

namespace loom {

class Button;

class TensorCard : public QWidget {
  Q_OBJECT

 public:
  explicit TensorCard(QWidget* over);

  TensorFace& face() { return *m_face; }
  // "stage2 to Context", "32×16×16", "first sample of validation".
  void setWords(const QString& title, const QString& shape, const QString& subtitle);
  // What the weights are, and what a click offers instead; empty = there are no others.
  void setWeights(const QString& words, const QString& others);
  QString title() const;
  QString subtitle() const;
  QString weights() const;
  // Beside this place of the parent, inside `room`, and not under the pointer.
  void openAt(QPoint at, const QRect& room);
  void setPinned(bool pinned);
  bool isPinned() const { return m_pinned; }
  QRect card() const;  // without its shadow, on the parent

 Q_SIGNALS:
  void weightsWanted();  // the others
  void pinnedChanged(bool pinned);
  void closeWanted();
  void left();  // by the pointer

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;

 private:
  void settle();
  QLabel *m_title, *m_shape, *m_subtitle, *m_weights;
  Button *m_other, *m_close;
  TensorFace* m_face;
  QPoint m_at;
  QRect m_room;
  bool m_pinned = false;
};

}  // namespace loom
