#pragma once
// From a click to a curve on this machine: starts `loom` for a job, follows its log into the store, carries a person's wishes to
// it, and finds runs again that went on while no window was open. Closing the IDE ends nothing. Window's thread only.
//
//   queued -> starting -> running -> stopping -> stopped
//      |          |          |  \-> finished        \-> failed
//      |          |          \-> failed
//      \-> stopped \-> failed           stopped, failed -> queued (resume: a new attempt of the same run)
#include <QHash>
#include <QObject>
#include <QSet>
#include <QTimer>
#include <memory>

#include "launcher/event_pump.h"
#include "launcher/job.h"
#include "launcher/local_process.h"
#include "launcher/run_store.h"

namespace loom {

enum class RunAction { stop, stopAfterEpoch, setLearningRate, resume, kill };

struct LauncherOptions {
  QString program;      // `loom`; empty = findLoom() when it is first needed
  int atOnce = 1;       // further jobs wait: two runs on one machine are slower than one after the other
};

class Launcher : public QObject {
  Q_OBJECT

 public:
  explicit Launcher(RunStore& store, LauncherOptions options = {}, QObject* parent = nullptr);
  ~Launcher() override;

  // What may be asked of a run in a state; the functions below throw Error(badArgument) where it may not.
  static bool may(RunState state, RunAction action);

  // Makes the run's folder with the snapshot and starts it, or lets it wait its turn. The same id again changes nothing.
  // Throws Error when the folder cannot be written or there is no `loom`.
  void submit(const Job& job);
  void stop(const QString& id);            // writes a checkpoint and ends
  void stopAfterEpoch(const QString& id);
  void setLearningRate(const QString& id, double value);
  void resume(const QString& id);          // a new attempt from the last checkpoint
  void kill(const QString& id);            // now, without a checkpoint
  // Name, tags or note of a run changed: its folder remembers them too, so that a lost store has them again.
  void keep(const QString& id);
  bool stopsAfterEpoch(const QString& id) const { return m_stopsAfterEpoch.contains(id); }

  // At start: runs that still go are followed again, those that ended meanwhile get their last word, waiting ones go on waiting,
  // and a store that was lost is read again.
  void attach();
  // Adds a run that was made elsewhere (or comes again). Answers its id; curves follow. Throws Error(badData) for a folder that
  // is none.
  QString openFolder(const QString& folder, const QString& project = {});
  // Opens every run folder below `folder` that is not known; answers how many were.
  int scan(const QString& folder, const QString& project);

  int running() const { return static_cast<int>(m_active.size()); }
  int waiting() const { return static_cast<int>(m_queue.size()); }
  bool isReading(const QString& id) const { return m_reading.contains(id); }  // an older log is still being read

 Q_SIGNALS:
  void countsChanged();
  void failed(const QString& id, const QString& sentence);  // the log of a run cannot be read, and such

 private:
  struct Active {
    ProcessIdentity process;   // id 0: someone else's, known by its lock alone
    std::optional<ProcessEnd> end;
    bool killed = false;
  };
  void start(const QString& id);
  void startNext();
  void watch();
  void take(const QString& id, const std::shared_ptr<EventBatch>& batch);
  void settle(const QString& id);
  void follow(const QString& id);
  const RunRecord& wanted(const QString& id, RunAction action) const;
  void command(const RunRecord& run, const Json& command);
  void saveJob(const QString& id, const std::function<void(JobFile&)>& change);

  RunStore& m_store;
  LauncherOptions m_options;
  EventPump m_pump;
  QTimer m_watch;
  QHash<QString, Active> m_active;
  QStringList m_queue;
  QSet<QString> m_reading, m_stopsAfterEpoch;
};

}  // namespace loom
