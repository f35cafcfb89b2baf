#pragma once
// The ring around what has the keyboard: 2 px outside the control, only when the focus came by a key (Tab, Backtab,
// shortcut); for text fields always. One translucent overlay, moved along; controls need to do nothing.
#include <QObject>
#include <QPointer>
#include <QWidget>

class QApplication;

namespace loom {

class FocusRing : public QObject {
  Q_OBJECT

 public:
  explicit FocusRing(QApplication& application);
  ~FocusRing() override;

  // The widget that wears the ring now, null when none does.
  QWidget* target() const { return m_target; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void attach(QWidget* target);
  void detach();
  void place();

  QPointer<QWidget> m_target;
  QPointer<QWidget> m_overlay;
  bool m_placing = false;  // placing the ring sends events of its own
};

}  // namespace loom
