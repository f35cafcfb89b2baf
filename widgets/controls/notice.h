#pragma once
// Notices at the bottom right of a window: one at a time, eight seconds, for finished things with Undo or Show. Errors
// are never notices. The pointer on it stops the clock; Esc or the cross ends it.
#include <QTimer>
#include <QWidget>
#include <functional>

class QLabel;

namespace loom {

class Button;

class NoticeArea : public QWidget {
  Q_OBJECT

 public:
  // Stands over `host`, `bottom` pixels above its lower edge (the status bar).
  explicit NoticeArea(QWidget* host, int bottom = 28);

  // Replaces the one that is shown. Without an action only the sentence. A notice ends with its `context`: what the
  // action looks at.
  void show(const QString& sentence, const QString& action = {}, std::function<void()> run = {},
            QObject* context = nullptr);
  void dismiss();
  QString sentence() const;
  bool isShowing() const { return isVisible(); }
  Button* actionButton() { return m_action; }
  bool offers(const QString& action) const;  // shown with this action
  void setDuration(int ms) { m_clock.setInterval(ms); }

 Q_SIGNALS:
  void changed();  // shown, replaced or gone

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void enterEvent(QEnterEvent* event) override;
  void leaveEvent(QEvent* event) override;

 private:
  void place();
  QWidget* m_host;
  int m_bottom;
  QLabel* m_sentence;
  Button* m_action;
  Button* m_close;
  std::function<void()> m_run;
  QMetaObject::Connection m_context;
  QTimer m_clock;
};

}  // namespace loom
