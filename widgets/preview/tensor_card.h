#pragma once
// What flows along a wire, in a card over the canvas: from where to where, its shape, whose weights, the values. It
// does not take the keyboard. A click on it pins it; then Esc, its cross or another click on it lets it go.
#include <QWidget>

#include "widgets/preview/tensor_face.h"

class QLabel;

namespace loom {

class Button;
class WeightsLine;

class TensorCard : public QWidget {
  Q_OBJECT

 public:
  explicit TensorCard(QWidget* over);

  TensorFace& face() { return *m_face; }
  // "stage2 to Context", "32×16×16", "first sample of validation".
  void setWords(const QString& title, const QString& shape, const QString& subtitle);
  // What the weights are. `others`: there are some to choose instead, by a click on the words.
  void setWeights(const QString& words, bool others);
  QString title() const;
  QString subtitle() const;
  QString weights() const { return m_words; }
  // Beside this place of the parent, inside `room`, and not under the pointer.
  void openAt(QPoint at, const QRect& room);
  void setPinned(bool pinned);
  bool isPinned() const { return m_pinned; }
  QRect card() const;  // without its shadow, on the parent

 Q_SIGNALS:
  void weightsWanted(QWidget* below);  // the others, offered in a menu there
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
  QLabel *m_title, *m_shape, *m_subtitle;
  WeightsLine* m_weights;
  QString m_words;
  Button* m_close;
  TensorFace* m_face;
  QPoint m_at;
  QRect m_room;
  bool m_pinned = false;
};

}  // namespace loom
