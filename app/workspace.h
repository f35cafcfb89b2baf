#pragma once
// What is open behind the window: the project, the store of runs, the launcher. No widgets, so that it is tested
// without any.
#include <QObject>
#include <functional>
#include <memory>

#include "app/drafts.h"
#include "app/page.h"
#include "engine/exchange/importer.h"
#include "launcher/folder_lock.h"
#include "launcher/launcher.h"
#include "launcher/remote/host_line.h"
#include "launcher/store/run_store.h"
#include "widgets/document/project_document.h"

namespace loom {

class HostChecks;
class HostLines;
class HostStore;
class KeepAwake;
class KnownColumnsKeeper;
class Models;
class OrderDesk;
class ProblemList;
class RunHosts;
class RunMetrics;
class RunScan;

struct WorkspaceOptions {
  QString dataFolder;  // of the store
  QString program;     // `loom`; empty = looked for
  LineOptions line;    // how hosts are reached; a bundle that is not named is looked for
};

struct TrainOptions {
  QString name;  // empty = made from the project's name
  QStringList overrides;
  Priority priority = Priority::exclusive;
};

class Workspace : public QObject {
  Q_OBJECT

 public:
  Workspace(WorkspaceOptions options, Theme& theme, Preferences& preferences, QObject* parent = nullptr);
  ~Workspace() override;

  AppContext& context() { return m_context; }
  RunStore& store() { return *m_store; }
  Launcher& launcher() { return *m_launcher; }
  HostStore& hosts() { return *m_hosts; }
  HostLines& lines() { return *m_lines; }
  HostChecks& checks() { return *m_checks; }
  Preferences& preferences() { return *m_context.preferences; }
  ProjectDocument* document() { return m_document.get(); }
  ProblemList& problems() { return *m_problems; }

  // The one that is open is saved first; where that fails, nothing is opened. A sample, and a project beside which
  // nothing can be written, opens as a copy in the person's own folder: the one that was made before, unless a fresh
  // one is asked for.
  enum class Copy { known, fresh };
  Outcome openProject(const QString& path, Copy copy = Copy::known);
  Outcome newProject();
  // What an importer made of a file, as unsaved work under its name. Weights are kept in the data folder until then.
  Outcome openImported(const Imported& imported, const QString& name);
  // Work of a session that ended without a word and was never saved.
  Outcome openUnsaved(const Orphan& orphan);
  // Saves what is open, among the drafts if it never had a name.
  Outcome save(ProjectDocument::Overwrite foreignChanges = ProjectDocument::Overwrite::refuse);
  Outcome saveAs(const QString& path);
  // What is open has no name yet.
  bool isDraft() const;
  const Drafts& drafts() const { return m_drafts; }
  // A draft goes into a folder of this name among the person's projects, any other file is renamed where it stands; its
  // runs follow. faultOfName() says beforehand why it would be refused.
  Outcome nameProject(const QString& name);
  QString faultOfName(const QString& name) const;
  QString suggestedName() const;
  Outcome closeProject();
  void closeWithoutSaving();

  // Saves, checks, submits. Refused with a sentence; errors of the project stand in the document's problems.
  Outcome train(const TrainOptions& options = {});
  Outcome resumeLast();
  // `count` times with further seeds, none of which was trained with these settings: those of the project, or of a
  // chosen run.
  Outcome trainSeeds(int count, const QString& run = {});
  // Why the project cannot be trained with these settings on top; empty = it can.
  QString faultOfChanges(const QStringList& overrides) const;
  // As the button and the strip say them; 0 where none of them stands in the way of training.
  int errors() const;

  // Where Train sends a run of the open project: id of a host, empty = this machine; remembered with the project.
  QString host() const;
  int ranks() const;  // never more than the host offers
  int mostRanks(const QString& host) const;
  void chooseHost(const QString& host, int ranks = 0);  // 0 = all it offers
  QString sshConfig() const { return m_sshConfig; }     // empty = this person's
  QString hostName(const QString& host) const;          // "This machine"; the id of one that is gone

  // Runs of the open project, and the newest that is live.
  QList<RunRecord> runs() const;
  // The same without copies, oldest first: for what is asked with every event.
  void forEachRun(const std::function<void(const RunRecord&)>& look) const;
  const RunRecord* liveRun() const;
  // The run in the Training page: the one that was asked for last, else the newest.
  QString currentRun() const;
  void setCurrentRun(const QString& id);

 Q_SIGNALS:
  void projectClosing();  // pages of the project go now
  void projectOpened();
  void copyOpened(const QString& original, bool made);  // after projectOpened()
  void keptAs(const QString& path);                     // a project that had no file is among the drafts
  void currentRunChanged(const QString& id);
  void submitted(const QString& id);
  void hostChosen();  // or what it offers changed

 private:
  Outcome leave();
  void tellMissingFiles();
  void close();
  void adopt(std::unique_ptr<ProjectDocument> document);
  void keepFolder(const QString& folder);
  void moveRuns(const QString& from, const QString& to);
  QString freeRunName(const QString& wanted) const;
  QString ownCopy(const QString& original, Copy copy, QString* reason);
  Outcome readyToTrain();
  Outcome submit(const Job& job);

  std::unique_ptr<RunStore> m_store;
  std::unique_ptr<HostStore> m_hosts;
  std::unique_ptr<HostLines> m_lines;  // before the launcher: it outlives it
  std::unique_ptr<RunHosts> m_runHosts;
  std::unique_ptr<RunMetrics> m_runMetrics;
  std::unique_ptr<HostChecks> m_checks;
  std::unique_ptr<Models> m_models;  // before the launcher: it sees how runs end
  std::unique_ptr<Launcher> m_launcher;
  std::unique_ptr<FolderLock> m_lock;
  std::unique_ptr<OrderDesk> m_orders;
  std::unique_ptr<KeepAwake> m_keepAwake;
  std::unique_ptr<ProblemList> m_problems;
  std::unique_ptr<ProjectDocument> m_document;
  std::unique_ptr<KnownColumnsKeeper> m_columns;
  std::unique_ptr<RunScan> m_scan;
  AppContext m_context;
  QString m_currentRun;
  QString m_sshConfig;
  QString m_dataFolder;
  Drafts m_drafts;
  std::unique_ptr<OwnLayers> m_ownLayers;
  QString m_host;   // chosen for the open project
  int m_ranks = 0;  // 0 = all that the host offers
};

}  // namespace loom
