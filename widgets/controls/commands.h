#pragma once
// Every command of the program, once: menus, Ctrl+K, the list of shortcuts, the keys that a person changed, recorded
// lists and tests read this one registry. A command is a QAction with an id, a group, a scope and its usual keys; it
// goes with its owner. GUI thread only.
#include <QAction>
#include <QHash>
#include <QJsonArray>
#include <QJsonObject>
#include <QKeySequence>
#include <QList>
#include <QObject>
#include <QPointer>
#include <functional>

class QKeyEvent;
class QMenu;
class QWidget;

namespace loom {

struct CommandSpec {
  QString id;     // "network.arrange": stands in what is kept of keys and in recorded lists, so it never changes
  QString group;  // in menus, search and the list of shortcuts: "Edit"
  QString text;   // "Arrange"
  QList<QKeySequence> keys;  // the usual ones
  // Where the keys hold: empty = the whole window; "network" = while that page is in front; "network/canvas" = while
  // that part of it has the keyboard, which then asks findByKeys(). Keys of one scope and of those around it are
  // different. A part that stands in several pages names none: "*/chart".
  QString scope;
  QString icon;
  // Commands that are one in several directions have one line in the list of shortcuts: "Move the selection by 12".
  QString family;
  std::function<bool()>
      possible;         // whether there is something to do now; empty = always, as far as the action is enabled
  QString alsoFoundBy;  // words that a person may look for it by and that its text does not have: "onnx csv"
};

class Commands : public QObject {
  Q_OBJECT

 public:
  using Run = std::function<void(const QJsonObject& arguments)>;  // empty arguments: of what is selected
  // The outer scopes reach the inner ones: brings what a scope needs to the front ("network" = the page). False where
  // it cannot.
  using Reach = std::function<bool(const QString& scope)>;

  explicit Commands(QObject* parent = nullptr) : QObject(parent) {}

  // Of two commands with one id the later replaces the earlier (a page that was made anew).
  QAction* add(const CommandSpec& spec, QObject* owner, Run run);
  QAction* add(const CommandSpec& spec, QObject* owner, std::function<void()> run);

  QList<QAction*> all() const { return m_order; }
  QList<QAction*> ofScope(const QString& scope) const;  // that scope alone
  QAction* find(const QString& id) const { return m_entries.contains(id) ? m_entries[id].action : nullptr; }
  static QString idOf(const QAction& action) { return action.objectName(); }
  const CommandSpec& spec(const QString& id) const;  // of a command that is there
  // The command of this scope whose keys the event has; null where none has.
  QAction* findByKeys(const QString& scope, const QKeyEvent& event) const;
  bool isPossible(const QString& id) const;  // of a command that is there

  // The registry around a part: that of the nearest parent that has one; a part that stands alone is given one of its
  // own.
  static Commands& around(QWidget& part);
  // As its keys do, for the part that has the keyboard: also where nothing is possible, since the part then says why.
  void press(const QString& id, QWidget* part);
  // While a command runs for a part, that part where it is a T, else null: what has the keyboard, or the page's own, is
  // meant.
  template <class T>
  T* partInHand() const {
    return qobject_cast<T*>(m_part.data());
  }
  // A line of a context menu: text, icon, keys and what is possible are those of the command; `text` and `picture`
  // where the menu knows better what is meant ("Dissolve into its place").
  struct MenuLine {
    QString text;
    QIcon picture;
    QJsonObject arguments;
  };
  QAction* addTo(QMenu& menu, const QString& id, QWidget* part = nullptr, const MenuLine& line = {});

  // Keys. What a person changed outlives commands that are not there yet or not any more.
  const QHash<QString, QStringList>& changedKeys() const {
    return m_changed;
  }  // by id, portable text; an empty list: none at all
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
  QPointer<QWidget> m_part;
};

inline constexpr char kCommandProperty[] = "command";  // of a menu's line: the id

// Whether keys of the two scopes may both hold at one moment: one is the other, or around it.
bool scopesMeet(const QString& a, const QString& b);
// "Ctrl+L or Ctrl+Shift+L", as this system writes keys; empty where there are none.
QString keysText(const QAction& action);
// "Arrange (Ctrl+L)": what a button's tooltip says.
QString textWithKeys(const QAction& action);

}  // namespace loom
