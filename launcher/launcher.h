#pragma once
// From a click to a curve: starts a job on this machine or on a host, follows its log into the store, carries a
// person's wishes to it, and finds runs again that went on while no window was open. Closing the IDE ends nothing.
// Window's thread only.
//
//   queued -> starting -> running -> stopping -> stopped
//      |          |          |  \-> finished        \-> failed
//      |          |          \-> failed
//      \-> stopped \-> failed           stopped, failed -> queued (resume: a new attempt of the same run)
#include <QHash>
#include <QObject>
#include <QSet>
#include <memory>

#include "launcher/event_pump.h"
#include "launcher/executor.h"
#include "launcher/job.h"
#include "launcher/store/run_store.h"

namespace loom {

class HostLines;

enum class RunAction { stop, stopAfterEpoch, setLearningRate, resume, kill };

struct LauncherOptions {
  QString program;             // `loom`; empty = findLoom() when it is first needed
  int atOnce = 1;              // further jobs wait: two runs on one machine are slower than one after the other
  HostLines* hosts = nullptr;  // outlives the launcher; null = this machine alone
};

// What a job does before its first event.
struct JobStage {
  QString sentence;   // "Uploading training: 12 of 61 MiB"
  double share = -1;  // done of it; -1 = cannot be told
};

class Launcher : public QObject {
  Q_OBJECT

 public:
  explicit Launcher(RunStore& store, LauncherOptions options = {}, QObject* parent = nullptr);
  ~Launcher() override;

  // What may be asked of a run in a state; the functions below throw Error(badArgument) where it may not.
  static bool may(RunState state, RunAction action);

  // Makes the run's folder with the snapshot and starts it, or lets it wait its turn. The same id again changes
  // nothing. Throws Error when the folder cannot be written or there is no `loom`.
  void submit(const Job& job);
  void stop(const QString& id);  // writes a checkpoint and ends
  void stopAfterEpoch(const QString& id);
  void setLearningRate(const QString& id, double value);
  void resume(const QString& id);  // a new attempt from the last checkpoint
  // On this machine, from the newest of its checkpoints that were brought here: it is a run of this machine from then
  // on. Throws Error(badArgument) where none was.
  void resumeHere(const QString& id);
  // On a host (empty = here) that is not the one where it ran: what it needs is brought there from its folder here, and
  // it is a run of that host from then on. `ranks` 0 = as many as the host offers. Throws Error where something is
  // missing: its newest checkpoint was not brought here, its data are not here, the host is not known or has too few
  // ranks. It then stays where it is.
  void resumeOn(const QString& id, const QString& host, int ranks = 0);
  void kill(const QString& id);  // now, without a checkpoint
  // A run on a host of which nothing can be told any more: a person says that it has ended, whatever goes on there. Its
  // curves stay.
  void giveUp(const QString& id);
  // The same project, settings and host once more, as a run of its own: for one that was lost. Answers the new id.
  QString submitAnew(const QString& id);
  // Name, tags or note of a run changed: its folder remembers them too, so that a lost store has them again.
  void keep(const QString& id);
  bool stopsAfterEpoch(const QString& id) const { return m_stopsAfterEpoch.contains(id); }

  // Runs that wait, in the order in which they will begin: exclusive ones before shared ones.
  const QStringList& queue() const { return m_queue; }
  Priority priority(const QString& id) const;
  void setPriority(const QString& id, Priority priority);  // of a run that waits or goes
  void moveInQueue(const QString& id, int by);             // among those of its priority

  // At start: runs that still go are followed again, those that ended meanwhile get their last word, waiting ones go on
  // waiting, and a store that was lost is read again.
  void attach();
  // Adds a run that was made elsewhere (or comes again). Answers its id; curves follow. Throws Error(badData) for a
  // folder that is none.
  QString openFolder(const QString& folder, const QString& project = {});
  // The same for a folder that lies among a project's runs; false for one that is known, that a person took from the
  // list, or that is none.
  bool takeIn(const QString& folder, const QString& project);

  JobStage stage(const QString& id) const { return m_stages.value(id); }
  // Why it cannot be told how the run goes: its folder is gone from the host, Slurm has forgotten it. Empty = it can.
  // Only a person may end that: giveUp(), submitAnew(); or wait.
  QString doubt(const QString& id) const { return m_doubts.value(id); }

  int running() const { return static_cast<int>(m_active.size()); }
  int runningHere() const { return activeOn(*m_local); }  // of those, on this machine
  int waiting() const { return static_cast<int>(m_queue.size()); }
  bool isReading(const QString& id) const { return m_reading.contains(id); }  // an older log is still being read

 Q_SIGNALS:
  void countsChanged();
  void stageChanged(const QString& id);
  void doubtChanged(const QString& id);
  void hostChanged(const QString& id);                      // it goes on elsewhere
  void failed(const QString& id, const QString& sentence);  // the log of a run cannot be read, and such

 private:
  struct Active {
    Executor* executor = nullptr;
    std::optional<JobEnd> end;
    bool killed = false;
    // What its log says became of it, where a batch system may start it again: it counts when the host says that it has
    // ended. Until then it is stopping.
    std::optional<RunState> lastWord;
  };
  void listen(Executor& executor);
  void lose(Executor& executor);
  Executor& executorOf(const QString& host);  // throws Error for a host that is not in the list
  JobOrder orderOf(const RunRecord& run) const;
  int activeOn(const Executor& executor) const;
  void refuse(const QString& id, const QString& sentence);
  void start(const QString& id, Executor& executor);
  QString takeFolder(const QString& folder, const QString& project, RunStore::OnDisk onDisk);
  void pickUp(const RunRecord& run);  // it is, or was, started already
  void startNext();
  void leave(const QString& id);
  bool neverBegan(const QString& id);
  void enqueue(const QString& id);
  void dequeue(const QString& id);
  void sortQueue();
  void keepPlaces();
  void giveWay(const Executor& executor, const QString& to, int ahead);
  bool goesOnLater(const QString& id);  // it gave way and waits now
  void readAnew(const QString& id);
  void take(const QString& id, const std::shared_ptr<EventBatch>& batch);
  void holdLastWord(const QString& id);
  void waitsThere(const QString& id);
  void takeDoubt(const QString& id, const QString& sentence);
  void tellLastWord(const QString& id, RunState lastWord, const JobEnd& end);
  std::optional<RunState> lastWordOf(const RunRecord& run);
  void settle(const QString& id);
  void follow(const QString& id);
  const RunRecord& wanted(const QString& id, RunAction action) const;
  void command(const RunRecord& run, const Json& command);
  void saveJob(const QString& id, const std::function<void(JobFile&)>& change);
  void moveTo(const QString& id, const QString& host, int ranks);

  RunStore& m_store;
  LauncherOptions m_options;
  EventPump m_pump;
  std::unique_ptr<Executor> m_local;
  QSet<Executor*> m_heard;
  QHash<QString, Active> m_active;
  QHash<QString, JobStage> m_stages;
  QHash<QString, QString> m_doubts;
  QStringList m_queue;
  QHash<QString, JobFile> m_waiting;              // of the queue, as their folders have it
  mutable QHash<QString, Priority> m_priorities;  // as the folders have them
  QSet<QString> m_reading, m_stopsAfterEpoch;
  QSet<QString> m_foreign;  // brought by a person: it may wait in somebody else's queue, and is not started here
  // Found in folders while the list of runs is built anew. No other run starts before their logs say which of them go.
  QSet<QString> m_rediscovered;
};

}  // namespace loom
