#include "widgets/controls/focus_keeper.h"

#include <QAbstractButton>
#include <QApplication>
#include <algorithm>

namespace loom {
namespace {

// Those that a person sees, from top to bottom; what was made a moment ago stands already.
QList<QAbstractButton*> buttonsOf(const QWidget& area) {
  QList<QAbstractButton*> buttons;
  for (QAbstractButton* each : area.findChildren<QAbstractButton*>())
    if (each->isVisibleTo(&area) && each->isEnabled() && each->focusPolicy() & Qt::TabFocus) buttons << each;
  return buttons;
}

}  // namespace

FocusKeeper::FocusKeeper(QWidget& area, QWidget* otherwise) : m_area(area), m_otherwise(otherwise) {
  auto* const focused = qobject_cast<QAbstractButton*>(QApplication::focusWidget());
  if (focused && area.isAncestorOf(focused)) m_button = static_cast<int>(buttonsOf(area).indexOf(focused));
  for (QWidget* around = area.parentWidget(); !m_otherwise && around; around = around->parentWidget())
    if (around->focusPolicy() & Qt::TabFocus) m_otherwise = around;
}

FocusKeeper::~FocusKeeper() {
  if (m_button < 0) return;
  const QList<QAbstractButton*> buttons = buttonsOf(m_area);
  QWidget* const next =
      buttons.isEmpty() ? m_otherwise.data() : buttons[std::min<qsizetype>(m_button, buttons.size() - 1)];
  if (next && next->isVisible()) next->setFocus(Qt::TabFocusReason);
}

void tabBefore(QWidget& stays, const QList<QWidget*>& made) {
  QWidget* before = stays.previousInFocusChain();
  const auto reached = [&](QWidget* at) {
    return at->focusPolicy() & Qt::TabFocus && !at->isHidden() && !made.contains(at);
  };
  while (before != &stays && !reached(before)) before = before->previousInFocusChain();
  if (before == &stays) return;
  for (QWidget* each : made) {
    QWidget::setTabOrder(before, each);
    before = each;
  }
}

}  // namespace loom
