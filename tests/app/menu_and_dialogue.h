#pragma once
// What a person does in a menu that a click opens, and in the dialogue for files that comes of it.
#include <QAbstractButton>
#include <QApplication>
#include <QDialogButtonBox>
#include <QFileDialog>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QTest>
#include <QTimer>

namespace loom {

// A line of the menu that a click on the button opens, through its submenus.
inline void pickFromMenu(QAbstractButton* button, const QStringList& words) {
  bool picked = false;
  QTimer::singleShot(0, button, [&] {
    auto* menu = qobject_cast<QMenu*>(QApplication::activePopupWidget());
    for (const QString& word : words) {
      QAction* line = nullptr;
      for (QAction* each : menu ? menu->actions() : QList<QAction*>())
        if (each->text().section('\t', 0, 0) == word) line = each;
      if (!line || (!menu->isVisible() && !QTest::qWaitFor([menu] { return menu->isVisible(); }))) break;
      picked = word == words.last();
      QTest::mouseClick(menu, Qt::LeftButton, {}, menu->actionGeometry(line).center());
      menu = line->menu();
    }
    // What is still open would wait for ever.
    while (QWidget* popup = QApplication::activePopupWidget()) popup->close();
  });
  QTest::mouseClick(button, Qt::LeftButton);
  QCoreApplication::processEvents();
  QVERIFY2(picked, qPrintable(words.join(" > ")));
}

// In the dialogue for files that a click is about to open a name is typed and its button pressed. It ends in any case:
// it stops all else while it is open.
inline void nameTheFile(const QString& file) {
  auto* const look = new QTimer;
  QObject::connect(look, &QTimer::timeout, look, [look, file, tries = 0]() mutable {
    auto* const dialogue = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    if (!dialogue || !dialogue->isVisible()) return;
    const auto end = [look] {  // at once: the next dialogue is another's
      look->stop();
      look->deleteLater();
    };
    if (++tries > 50) {
      end();
      return dialogue->reject();
    }
    dialogue->findChild<QLineEdit*>("fileNameEdit")->setText(file);
    const auto* const buttons = dialogue->findChild<QDialogButtonBox*>("buttonBox");
    for (const auto kind : {QDialogButtonBox::Save, QDialogButtonBox::Open})
      if (QPushButton* const button = buttons->button(kind); button && dialogue->isVisible())
        QTest::mouseClick(button, Qt::LeftButton);
    if (!dialogue->isVisible()) end();
  });
  look->start(50);
}

}  // namespace loom
