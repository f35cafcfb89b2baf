#pragma once
// Every command of the window with its shortcut: one list for the main menu, Ctrl+K and the list of shortcuts.
#include <QAction>
#include <QHash>
#include <QObject>

class QMenu;

namespace loom {

class MainWindow;

class Actions : public QObject {
  Q_OBJECT

 public:
  explicit Actions(MainWindow& window);

  struct Entry {
    QString group;   // "Project", "Edit", "Train", "Go", "View", "Help"
    QAction* action;
  };
  const QList<Entry>& entries() const { return m_entries; }
  QAction* find(const QString& id) const { return m_byId.value(id); }
  void fillMenu(QMenu& menu) const;
  void refresh();  // what is possible now

 private:
  QAction* add(const QString& group, const QString& id, const QString& text, const QList<QKeySequence>& keys,
               const std::function<void()>& act, const QString& iconName = {});

  MainWindow& m_window;
  QList<Entry> m_entries;
  QHash<QString, QAction*> m_byId;
};

}  // namespace loom
