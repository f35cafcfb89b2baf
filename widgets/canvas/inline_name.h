#pragma once
// A name asked for on the canvas itself, over the thing that it names: Enter or leaving the field takes it, Esc does
// not. A name that cannot be is told beside the field, which stays until it can.
#include <QLineEdit>
#include <functional>

namespace loom {

class CanvasHint;

class InlineName : public QLineEdit {
  Q_OBJECT
 public:
  InlineName(QWidget* canvas, CanvasHint& hint);

  struct Question {
    QString what;                                        // "Name of the unit", for screen readers
    QString value;                                       // offered, selected
    std::function<QString(const QString&)> whyNot = {};  // empty = it can be
    std::function<void(const QString&)> accept;
    std::function<void()> done = {};  // after either end
  };
  void ask(const QRect& at, Question question);
  bool isAsking() const { return isVisible(); }

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool event(QEvent* event) override;

 private:
  bool finish(bool accept);
  CanvasHint& m_hint;
  Question m_question;
};

}  // namespace loom
