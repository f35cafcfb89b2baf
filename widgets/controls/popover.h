#pragma once
// A card that opens beside what was clicked and closes by Esc, a click elsewhere, or losing the focus. It never stops
// the program (nothing modal). The content goes into contentLayout().
#include <QPointer>
#include <QWidget>

class QVBoxLayout;

namespace loom {

class Popover : public QWidget {
  Q_OBJECT

 public:
  explicit Popover(QWidget* parent);

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

 private:
  void openHere(QPoint corner);
  int m_shadow;  // around the card; none where nothing shines through a window
  QVBoxLayout* m_content;
  QWidget* m_title = nullptr;
  QPointer<QWidget> m_before;  // had the focus
};

}  // namespace loom
