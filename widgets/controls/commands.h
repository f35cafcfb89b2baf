#pragma once
// Every command of the program, once: menus, Ctrl+K, the list of shortcuts, the keys that a person changed, recorded lists and tests
// read this one registry. A command is a QAction with an id, a group, a scope and its usual keys; it goes with its owner. GUI thread only.
#include <QAction>
#include <QHash>
#include <QJsonArray>
#include <QJsonObject>
#include <QKeySequence>
#include <QList>
#include <QObject>
#include <functional>

class QKeyEvent;

namespace loom {

struct CommandSpec {
  QString id;                // "network.arrange": stands in what is kept of keys and in recorded lists, so it never changes
  QString group;             // in menus, search and the list of shortcuts: "Edit"
  QString text;              // "Arrange"
  QList<QKeySequence> keys;  // the usual ones
  // Where the keys hold: empty = the whole window; "network" = while that page is in front; "network/canvas" = while that part of
  // it has the keyboard. Keys of one scope and of those around it are different.
  QString scope;
  QString icon;
};

class Commands : public QObject {
  Q_OBJECT

 public:
  using Run = std::function<void(const QJsonObject& arguments)>;  // empty arguments: of what is selected
  // The outer scopes reach the inner ones: brings what a scope needs to the front ("network" = the page). False where it cannot.
  using Reach = std::function<bool(const QString& scope)>;

  explicit Commands(QObject* parent = nullptr) : QObject(parent) {}

  // Of two commands with one id the later replaces the earlier (a page that was made anew).
  QAction* add(const CommandSpec& spec, QObject* owner, Run run);
  QAction* add(const CommandSpec& spec, QObject* owner, std::function<void()> run);

  QList<QAction*> all() const { return m_order; }
  QList<QAction*> ofScope(const QString& scope) const;  // that scope alone
  QAction* find(const QString& id) const { return m_entries.contains(id) ? m_entries[id].action : nullptr; }
  static QString idOf(const QAction& action) { return action.objectName(); }
  const CommandSpec& spec(const QString& id) const;     // of a command that is there
  // The command of this scope whose keys the event has; null where none has.
  QAction* findByKeys(const QString& scope, const QKeyEvent& event) const;

  // Keys. What a person changed outlives commands that are not there yet or not any more.
  const QHash<QString, QStringList>& changedKeys() const { return m_changed; }  // by id, portable text; an empty list: none at all
  void setChangedKeys(const QHash<QString, QStringList>& changed);
  bool isChanged(const QString& id) const { return m_changed.contains(id); }
  // The first other command that already has one of these keys where both hold; empty where none has.
  QString whoHas(const QString& id, const QList<QKeySequence>& keys) const;
  void setKeys(const QString& id, const QList<QKeySequence>& keys);
  void resetKeys(const QString& id);

  // Recorded lists: [{"run": "network.arrange"}, {"run": "network.add", "layer": "ReLU"}].
  void startRecording();
  QJsonArray stopRecording();
  bool isRecording() const { return m_recording; }
  void setReach(Reach reach) { m_reach = std::move(reach); }
  // Empty when it ran, else why not, as a sentence.
  QString run(const QString& id, const QJsonObject& arguments = {});
  // One after the other; ends at the first that cannot be run and says which.
  QString replay(const QJsonArray& list);

 Q_SIGNALS:
  void ran(const QString& id, const QJsonObject& arguments);
  void keysChanged();

 private:
  struct Entry {
    CommandSpec spec;
    QAction* action = nullptr;
    Run run;
  };
  void forget(const QString& id, const QObject* action);
  void applyKeys(const Entry& entry) const;
  void act(const QString& id, const QJsonObject& arguments);

  QHash<QString, Entry> m_entries;
  QList<QAction*> m_order;
  QHash<QString, QStringList> m_changed;
  QJsonArray m_recorded;
  bool m_recording = false, m_replaying = false;
  Reach m_reach;
};

// Whether keys of the two scopes may both hold at one moment: one is the other, or around it.
bool scopesMeet(const QString& a, const QString& b);
// "Ctrl+L or Ctrl+Shift+L", as this system writes keys; empty where there are none.
QString keysText(const QAction& action);
// "Arrange (Ctrl+L)": what a button's tooltip says.
QString textWithKeys(const QAction& action);

}  // namespace loom
