#pragma once
// What is open behind the window: the project, the store of runs, the launcher. No widgets, so that it is tested without any.
#include <QObject>
#include <memory>

#include "app/page.h"
#include "launcher/launcher.h"
#include "launcher/run_store.h"
#include "widgets/document/project_document.h"

namespace loom {

class KnownColumnsKeeper;

struct WorkspaceOptions {
  QString dataFolder;      // of the store
  QString program;         // `loom`; empty = looked for
};

class Workspace : public QObject {
  Q_OBJECT

 public:
  Workspace(WorkspaceOptions options, Theme& theme, Preferences& preferences, QObject* parent = nullptr);
  ~Workspace() override;

  AppContext& context() { return m_context; }
  RunStore& store() { return *m_store; }
  Launcher& launcher() { return *m_launcher; }
  Preferences& preferences() { return *m_context.preferences; }
  ProjectDocument* document() { return m_document.get(); }

  // The one that is open is saved first; where that fails, nothing is opened. A project beside which nothing can be written is
  // copied to the person's own folder.
  Outcome openProject(const QString& path);
  Outcome newProject();
  // Saves what is open, under a name of its own if it never had one.
  Outcome save();
  Outcome saveAs(const QString& path);
  Outcome closeProject();
  void closeWithoutSaving();

  // Saves, checks, submits. Refused with a sentence; errors of the project stand in the document's problems.
  struct TrainOptions {
    QString name;            // empty = made from the project's name
    QStringList overrides;
  };
  Outcome train(const TrainOptions& options = {});
  Outcome resumeLast();
  // As train(), `count` times with the seeds that follow the project's.
  Outcome trainSeeds(int count);
  int errors() const;

  // Runs of the open project, and the newest that is live.
  QList<RunRecord> runs() const;
  const RunRecord* liveRun() const;
  // The run in the Training page: the one that was asked for last, else the newest.
  QString currentRun() const;
  void setCurrentRun(const QString& id);

 Q_SIGNALS:
  void projectClosing();      // pages of the project go now
  void projectOpened();
  void currentRunChanged(const QString& id);
  void submitted(const QString& id);

 private:
  Outcome leave();
  void adopt(std::unique_ptr<ProjectDocument> document);
  QString freeRunName(const QString& wanted) const;

  std::unique_ptr<RunStore> m_store;
  std::unique_ptr<Launcher> m_launcher;
  std::unique_ptr<ProjectDocument> m_document;
  std::unique_ptr<KnownColumnsKeeper> m_columns;
  AppContext m_context;
  QString m_currentRun;
};

}  // namespace loom
