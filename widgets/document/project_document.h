#pragma once
// The project that is open: networks, datasets, training, and the file they live in. Every change is one undo command
// with a human text and one changed() signal with ids. Ids are those of the engine (UTF-8). GUI thread only.
#include <QDateTime>
#include <QFileSystemWatcher>
#include <QObject>
#include <QPointF>
#include <QString>
#include <QTimer>
#include <QUndoStack>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/network/project.h"
#include "widgets/document/newest_task.h"
#include "widgets/document/project_change.h"
#include "widgets/document/project_checks.h"
#include "widgets/document/project_edit.h"
#include "widgets/document/recovery_file.h"

namespace loom {

// Done, or the reason why not, as a sentence for a person.
struct Outcome {
  QString reason;
  static Outcome done() { return {}; }
  static Outcome refused(QString why) { return {std::move(why)}; }
  explicit operator bool() const { return reason.isEmpty(); }
};

struct AddRequest {
  std::string network = "main";
  std::string layer;                 // catalogue id or alias
  QPointF at;                        // centre of the card
  std::optional<Edge> into;          // the wire it is put into: what lies below moves down
  std::string after;                 // the node it follows and is wired to; `at` is then ignored
  std::optional<Endpoint> from, to;  // a wire dropped on nothing: the pin it came from
  Json values = Json::object();
};

class ProjectDocument : public QObject {
  Q_OBJECT
 public:
  enum class SaveState { saved, edited, saving, recovered, failed };

  explicit ProjectDocument(QObject* parent = nullptr);
  ~ProjectDocument() override;

  // The file. A file that cannot be read leaves the document as it was; openProblems() then say why and where.
  Outcome open(const QString& path);
  Outcome openText(std::string_view text, const QString& name);  // no file of its own yet: a new project or a sample
  void newProject();
  // A project that came from elsewhere, as unsaved work under this name.
  void takeOver(Project project, const QString& name);
  // Another program has written the file since it was read or written here. foreignChange() tells of it once each time,
  // when the system does or when lookOutside() is called (not every file system tells).
  bool changedOutside() const;
  void lookOutside();
  Outcome reload();  // what the file holds now, as one undo step
  bool openElsewhere() const { return m_recovery.openElsewhere(); }
  // Refuses when another program has changed the file meanwhile, unless told to overwrite.
  enum class Overwrite { refuse, allow };
  Outcome save(Overwrite foreignChanges = Overwrite::refuse);
  Outcome saveAs(const QString& path);
  // The file itself, beside where it stands; `name` without its ending. Changes that were not saved stay so.
  Outcome renameFile(const QString& name);
  QString path() const { return m_path; }  // empty = never saved
  QString folder() const;                  // what relative paths start from
  QString name() const { return m_name; }  // without folder and ending
  bool isModified() const { return !m_stack.isClean(); }
  SaveState saveState() const { return m_saveState; }
  const QString& saveProblem() const { return m_saveProblem; }  // why the last save failed; empty where it did not
  // The folder that it wanted and that is not there; empty where the reason was another.
  QString missingFolder() const { return m_saveState == SaveState::failed ? m_missingFolder : QString(); }
  QString saveStateText() const;  // "Saved", "Edited", "Recovered 14:02", "Cannot save" (saveProblem() says why)
  const std::vector<Problem>& openProblems() const { return m_openProblems; }
  std::string text() const;  // as save() would write it

  // Nothing is lost in a crash: unsaved changes stand in a hidden file beside the project (RecoveryFile), offered at
  // next open.
  std::optional<QDateTime> recoverable() const;
  Outcome recover();  // one undo command
  // Becomes the project that was never saved when the program ended: it stands as unsaved work again, the orphan is
  // gone.
  Outcome recoverUnsaved(const Orphan& orphan);
  void discardRecovery();  // of what is unsaved now: a person closes without saving
  void discardOffered();   // what recover() would take
  // What discardOffered() would remove, and back again: it is offered once more.
  std::optional<Recovered> recovery() const { return m_recovery.find(); }
  void restoreRecovery(const Recovered& recovered);
  void setAutosaveDelay(int milliseconds) { m_autosave.setInterval(milliseconds); }

  QUndoStack& undoStack() { return m_stack; }
  const Project& project() const { return m_project; }
  // A network or a unit, and everything that follows from its wires; null and an empty one for a name that none has.
  const Network* network(std::string_view name) const { return m_project.drawing(name); }
  const NetworkIndex& index(std::string_view name) const;
  std::optional<Drawing> drawn(std::string_view name) const;
  const Node* node(std::string_view network, std::string_view id) const;  // null where there is none
  // Of a drawing, as it is drawn. Of the present state, computed when asked for after a change; of a large project of
  // the last state that was looked at beside the window (checksAreCurrent() says whether that is the present one;
  // analysisChanged() tells of a newer one).
  const Analysis& analysis(const std::string& network) const { return m_checks.analysis(network); }
  // Of the unit that a node uses, as this use sees it; see ProjectChecks.
  const Analysis& analysisOfUse(const std::string& drawing, const std::string& node) const {
    return m_checks.analysisOfUse({drawing, node});
  }
  void watchUse(const std::string& drawing, const std::string& node) { m_checks.watch({drawing, node}); }
  void unwatchUse(const std::string& drawing, const std::string& node) { m_checks.unwatch({drawing, node}); }
  const std::vector<Problem>& problems() const;  // of the whole project, errors first; of the same state
  bool checksAreCurrent() const { return m_checks.isCurrent(); }
  // Nothing is drawn yet, in no network: to the engine an error, to a person the beginning.
  bool isBlank() const;
  void setKnownColumns(std::vector<KnownColumns> columns);
  const std::vector<KnownColumns>& knownColumns() const { return m_checks.columns(); }

  // Networks.
  std::string addNetwork(const std::string& wanted);  // answers the name it got
  Outcome renameNetwork(const std::string& from, const std::string& to);
  Outcome removeNetwork(const std::string& name);
  std::string addNode(const AddRequest& request);  // answers its id; empty for an unknown layer
  void removeNodes(const std::string& network, const std::vector<std::string>& ids, bool heal);
  // Moves with one `gesture` number (not 0) merge into one command.
  // Places of nodes, and of comments; into a group where one is named.
  void moveNodes(const std::string& network, const std::map<std::string, QPointF>& places, int gesture = 0,
                 const std::string& group = {});
  // A large drawing is arranged beside the window's thread; `done` is called when the cards have their places.
  void arrange(const std::string& network, const std::function<void()>& done = {});
  bool isArranging() const { return m_isArranging; }
  void cancelArranging();  // the cards stay where they are
  Outcome setField(const std::string& network, const std::string& node, const std::string& key, const Json& value);
  void setFieldOfMany(const std::string& network, const std::vector<std::string>& nodes, const std::string& key,
                      const Json& value);
  void resetField(const std::string& network, const std::string& node, const std::string& key);
  Outcome setShares(const std::string& network, const std::string& node, const std::string& other);
  Outcome setLayer(const std::string& network, const std::string& node, const std::string& layer);
  Outcome renameNode(const std::string& network, const std::string& from, const std::string& to);
  // May the wire be drawn, and if not, why.
  Outcome mayWire(const std::string& network, const Edge& edge) const;
  Outcome addWire(const std::string& network, const Edge& edge);  // replaces the wire of an input that takes only one
  void removeWires(const std::string& network, const std::vector<Edge>& edges);
  // A node without wires is put into one; what lies below moves down.
  Outcome insertInto(const std::string& network, const std::string& node, const Edge& edge, QPointF at);
  Outcome rewire(const std::string& network, const Edge& from, const Edge& to);
  std::string copyNodes(const std::string& network, const std::vector<std::string>& ids) const;  // JSON text
  void cutNodes(const std::string& network, const std::vector<std::string>& ids);
  std::vector<std::string> pasteNodes(const std::string& network, std::string_view copied, QPointF centre);
  std::vector<std::string> duplicateNodes(const std::string& network, const std::vector<std::string>& ids);

  // Units, groups, comments. A drawing is a network or a unit.
  const Network* drawing(std::string_view name) const { return m_project.drawing(name); }
  Outcome mayNameDrawing(const std::string& name) const;
  Outcome mayMakeUnit(const std::string& drawing, const std::vector<std::string>& ids) const;
  std::string makeUnit(const std::string& drawing, const std::vector<std::string>& ids,
                       const std::string& name);  // answers its use
  Outcome dissolveUnit(const std::string& drawing, const std::string& id, std::vector<std::string>* came = nullptr);
  std::string addUnit(const std::string& wanted);
  Outcome addArgument(const std::string& unit, const Argument& argument);
  Outcome setArgument(const std::string& unit, const std::string& name,
                      const Argument& argument);  // another name: uses follow
  Outcome removeArgument(const std::string& unit, const std::string& name);
  Outcome setRepeat(const std::string& drawing, const std::string& id, const Json& repeat);
  Outcome mayRepeat(const std::string& drawing, const std::vector<std::string>& ids) const;
  std::string makeGroup(const std::string& drawing, const std::vector<std::string>& ids, const std::string& title,
                        const Json& repeat = {});
  Outcome setGroup(const std::string& drawing,
                   const Group& group);  // title, colour, repeat, counter of the group with this id
  Outcome setGroupTitle(const std::string& drawing, const std::string& id, const std::string& title);
  void setFolded(const std::string& drawing, const std::string& group, bool folded);
  void setAllFolded(const std::string& drawing, bool folded);
  void dissolveGroups(const std::string& drawing, const std::vector<std::string>& groups);
  void moveToGroup(const std::string& drawing, const std::vector<std::string>& ids,
                   const std::string& group);  // empty: out of all
  std::string addComment(const std::string& drawing, const Comment& comment);
  void setComment(const std::string& drawing, const Comment& comment);
  void removeThings(const std::string& drawing, const std::vector<std::string>& nodes,
                    const std::vector<std::string>& comments, bool heal);

  // Training and data. A null value means the default again.
  void setSetting(const std::string& key, const Json& value);
  void setOptimizer(std::size_t update, const Json& optimizer);
  void setSchedule(std::size_t update, const Json& schedule);
  void setWarmup(std::size_t update, const Json& warmup);
  void setUpdate(std::size_t update, const UpdateSpec& spec);
  void addUpdate(const UpdateSpec& spec);
  void removeUpdate(std::size_t update);
  void setValidation(const std::string& dataset, const std::string& network = {});
  Outcome addDataset(const DatasetSpec& dataset);
  Outcome setDataset(const std::string& name,
                     const DatasetSpec& dataset);  // a new name is followed by all that names it
  void removeDataset(const std::string& name);
  void setPrepare(const std::string& dataset, const std::vector<Json>& steps);
  void setNotes(const std::string& notes);
  // By the path that problems name: "training.batch", "training.optimizer.learning_rate", "datasets.training.csv".
  Outcome setPath(const std::string& path, const Json& value);
  Outcome applyRemedy(const Problem& problem);

  // What stands outside of the project and belongs to the same step (the ranks of a host): done with it, and undone
  // with it.
  struct Beside {
    std::function<void()> redo, undo;
  };
  // Any other change, as one command. Commands with the same non-empty `mergeKey` within two seconds become one. What
  // is done through a ProjectEdit costs what it changes.
  void edit(const QString& text, const std::function<void(ProjectEdit&)>& change, const QString& mergeKey = {}) {
    edit(text, change, mergeKey, {});
  }
  void editDrawing(const QString& text, const std::string& name, const std::function<void(DrawingEdit&)>& change,
                   const QString& mergeKey = {});
  // The project as a whole, which is copied and compared: for what is rare.
  void edit(const QString& text, const std::function<void(Project&)>& change, const QString& mergeKey = {},
            Beside beside = {});
  void replace(const QString& text, Project project, const QString& mergeKey = {}, Beside beside = {});
  void edit(const QString& text, const std::function<void(ProjectEdit&)>& change, const QString& mergeKey,
            Beside beside);

 Q_SIGNALS:
  void changed(const loom::ProjectChange& change);
  void analysisChanged();   // once after a burst of changes, from the event loop; of a large project when it has been
                            // looked at
  void arrangingChanged();  // beside the window: it began or ended
  void saveStateChanged();
  void pathChanged();
  void opened();  // another project: forget everything
  void recoveryOffered(const QDateTime& time);
  void foreignChange();  // another program has written the file

 private:
  friend class ProjectCommand;
  void load(ReadProject read, std::string diskText, const QString& path, const QString& name);
  void applyDelta(const ProjectDelta& delta, bool forward) { delta.apply(m_project, m_index, forward); }
  void applied(const std::shared_ptr<const ProjectDelta>& delta, bool forward);
  void push(const QString& text, ProjectDelta delta, const QString& mergeKey, Beside beside);
  void setSaveState(SaveState state, const QString& reason = {});
  void writeRecovery();
  Outcome write(const QString& path);
  void watchFile();
  // What a remedy adds: each below what it reads, or beside what reads it.
  void addNodes(const QString& text, const std::string& network, const Remedy& remedy);
  void setArranging(bool arranging);
  void editUpdate(const QString& text, std::size_t update, const std::function<void(UpdateSpec&)>& change,
                  const QString& mergeKey = {});

  Project m_project;
  ProjectIndex m_index;  // of its drawings
  QUndoStack m_stack;
  QString m_path, m_name, m_saveProblem, m_missingFolder, m_recoveredAt;
  std::string m_diskText;       // what the file held when it was read or written last
  std::string m_foreignText;    // what foreignChange() was told of
  bool m_keepOriginal = false;  // the file had parts that could not be read: kept as *.bak at the first save
  SaveState m_saveState = SaveState::saved;
  std::vector<Problem> m_openProblems;
  RecoveryFile m_recovery;
  QTimer m_autosave, m_announce, m_look;
  QFileSystemWatcher m_watcher;
  NewestTask m_arranging;
  bool m_isArranging = false;
  std::uint64_t m_revision = 0;  // counts the changes
  ProjectChecks m_checks;
  mutable std::optional<std::vector<Problem>> m_problems;  // with those of reading
};

}  // namespace loom
