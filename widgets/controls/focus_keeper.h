#pragma once
// Whoever presses one remedy after another by keys: the pressed button goes away, and the keyboard goes on to the one
// that takes its place, else to what is around them, instead of nowhere. Lives on the stack while the content of `area`
// is replaced.
#include <QPointer>
#include <QWidget>

namespace loom {

class FocusKeeper {
 public:
  // `otherwise`: where no button is left; null = the nearest around `area` that takes the focus by Tab.
  explicit FocusKeeper(QWidget& area, QWidget* otherwise = nullptr);
  ~FocusKeeper();
  FocusKeeper(const FocusKeeper&) = delete;
  FocusKeeper& operator=(const FocusKeeper&) = delete;

 private:
  QWidget& m_area;
  QPointer<QWidget> m_otherwise;
  int m_button = -1;  // which of the area's buttons has the focus; -1 = none, and nothing is kept
};

// Tab comes to these, in their order, before it comes to `stays`: what is made later would come behind everything else.
// They stand in the same window.
void tabBefore(QWidget& stays, const QList<QWidget*>& made);

}  // namespace loom
