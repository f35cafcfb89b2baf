#pragma once
// The commands of the window as a whole, in the registry (widgets/controls/commands.h), and what is possible now.
#include <QAction>
#include <QObject>

class QMenu;

namespace loom {

class Commands;
class MainWindow;

class Actions : public QObject {
  Q_OBJECT

 public:
  Actions(MainWindow& window, Commands& commands);

  QAction* find(const QString& id) const;
  void fillMenu(QMenu& menu) const;  // those of the window and of the page in front
  void refresh();                    // what is possible now

 private:
  QAction* add(const QString& group, const QString& id, const QString& text, const QList<QKeySequence>& keys,
               const std::function<void()>& act, const QString& iconName = {});

  MainWindow& m_window;
  Commands& m_commands;
};

}  // namespace loom
