#pragma once
// A hand as the window system tells of it: events for the window, which Qt itself brings to what lies there. So what Qt
// does on the way takes part: the menu of the right button.
#include <QApplication>
#include <QMenu>
#include <QTest>
#include <QTimer>
#include <QWindow>
#include <functional>

namespace loom {

// Presses the right button there; `looked` sees the menu, then the line with these words is clicked, one menu deeper
// for each further word.
inline void menuByHand(QWindow* window, QPoint at, const QStringList& words,
                       const std::function<void(const QMenu&)>& looked = {}) {
  QTimer::singleShot(0, window, [&] {
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    if (menu != nullptr && looked) looked(*menu);
    for (const QString& word : words) {
      QAction* line = nullptr;
      for (QAction* each : menu == nullptr ? QList<QAction*>() : menu->actions())
        if (each->text() == word) line = each;
      if (line == nullptr) break;
      const QPoint place = menu->actionGeometry(line).center();
      QTest::mouseMove(menu, place);
      QTest::mouseClick(menu, Qt::LeftButton, {}, place);
      menu = line->menu();
    }
    while (QWidget* popup = QApplication::activePopupWidget()) popup->close();
  });
  QTest::mouseClick(window, Qt::RightButton, {}, at);
  QCoreApplication::processEvents();
}

}  // namespace loom
