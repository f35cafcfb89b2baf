#include "widgets/canvas/inline_name.h"

#include <QKeyEvent>
#include <algorithm>
#include <utility>

#include "widgets/canvas/overlays.h"
#include "widgets/theme/theme.h"

namespace loom {

namespace {
constexpr int kNameWidth = 160, kNameHeight = 28;
}

InlineName::InlineName(QWidget* canvas, CanvasHint& hint) : QLineEdit(canvas), m_hint(hint) {
  hide();
}

void InlineName::ask(const QRect& at, Question question) {
  if (isAsking()) finish(false);
  m_question = std::move(question);
  setAccessibleName(m_question.what);
  setPlaceholderText(m_question.what);
  setText(m_question.value);
  setStyleProperty(this, "problem", QString());
  const QRect room = parentWidget()->rect();
  const int width = std::max(at.width(), kNameWidth);
  setGeometry(std::clamp(at.left(), 4, std::max(4, room.width() - width - 4)),
              std::clamp(at.top(), 4, std::max(4, room.height() - kNameHeight - 4)), width, kNameHeight);
  show();
  raise();
  selectAll();
  setFocus(Qt::ShortcutFocusReason);
}

bool InlineName::finish(bool accept) {
  if (!isAsking()) return true;
  const QString name = text().trimmed();
  if (accept && m_question.whyNot) {
    const QString why = m_question.whyNot(name);
    setStyleProperty(this, "problem", why.isEmpty() ? QString() : QStringLiteral("error"));
    if (!why.isEmpty()) {
      m_hint.say(why, geometry().bottomLeft() - QPoint(12, 8), 8000);
      return false;
    }
  }
  const Question question = std::exchange(m_question, {});
  hide();
  m_hint.clear();
  if (accept && question.accept) question.accept(name);
  if (question.done) question.done();
  return true;
}

bool InlineName::event(QEvent* event) {
  // What is typed here is no command of the window.
  if (event->type() == QEvent::ShortcutOverride &&
      !(static_cast<QKeyEvent*>(event)->modifiers() & (Qt::ControlModifier | Qt::AltModifier))) {
    event->accept();
    return true;
  }
  return QLineEdit::event(event);
}

void InlineName::keyPressEvent(QKeyEvent* event) {
  QWidget* canvas = parentWidget()->parentWidget();
  switch (event->key()) {
    case Qt::Key_Escape:
      finish(false);
      canvas->setFocus(Qt::OtherFocusReason);
      return;
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (finish(true)) canvas->setFocus(Qt::OtherFocusReason);
      return;
    default:
      QLineEdit::keyPressEvent(event);
  }
}

void InlineName::focusOutEvent(QFocusEvent* event) {
  QLineEdit::focusOutEvent(event);
  if (event->reason() == Qt::PopupFocusReason || event->reason() == Qt::ActiveWindowFocusReason) return;
  if (!finish(true)) finish(false);
}

}  // namespace loom
