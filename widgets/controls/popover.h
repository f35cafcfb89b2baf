#pragma once
// A card that opens beside what was clicked and closes by Esc, a click elsewhere, or losing the focus. It never stops
// the program (nothing modal). The content goes into contentLayout().
// One that stays (`Closes::byHand`) is a part of its window instead: it has a cross, Esc closes it while it has the
// keyboard, and what lies beside it can be worked with. For what a person has to read and did not ask for by a click.
#include <QPointer>
#include <QWidget>

class QVBoxLayout;

namespace loom {

class Popover : public QWidget {
  Q_OBJECT

 public:
  enum class Closes { byItself, byHand };
  explicit Popover(QWidget* parent, Closes closes = Closes::byItself);

  QVBoxLayout* contentLayout() { return m_content; }
  void setTitle(const QString& title);
  // Under the anchor, its right or left edge aligned where there is room; above it where there is none below.
  void openAt(QWidget* anchor);
  // In the middle of the window, a little above it.
  void openOver(QWidget* window);

 Q_SIGNALS:
  void closed();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  bool stays() const { return !isWindow(); }
  void openHere(QPoint corner);
  int m_shadow;  // around the card; none where nothing shines through a window
  QVBoxLayout* m_content;
  QWidget* m_title = nullptr;
  QPointer<QWidget> m_before;  // had the focus
};

}  // namespace loom
