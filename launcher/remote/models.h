#pragma once
// Where is my model? The weights of a run are its best checkpoint, else its newest; those of a run on a host lie there
// until they are brought here, by a click, by `gradloom fetch`, or by themselves when the run ends and its host says
// so. Window's thread.
#include <QHash>
#include <QObject>
#include <QSet>

#include "launcher/remote/host_lines.h"
#include "launcher/store/run_store.h"

namespace loom {

struct ModelPlace {
  QString here;      // the file on this machine; empty = it is not here
  bool best = true;  // what is told of is the best, not the newest
  QString host;      // id of the host where it lies; empty = it is here or nowhere
  QString there;     // its path on that host
  bool isNowhere() const { return here.isEmpty() && there.isEmpty(); }
};

class Models : public QObject {
  Q_OBJECT

 public:
  // `hosts`: null = this machine alone. Both outlive it.
  Models(RunStore& store, HostLines* hosts, QObject* parent = nullptr);

  // Looks into the run's folder and its events: some milliseconds, not for every frame.
  ModelPlace place(const QString& id) const;
  // "/path/step-00000128.safetensors", or "on atlas at /path"; what to do about it is the caller's to say. Empty =
  // nowhere.
  QString sentence(const QString& id) const;
  // Whether there is something to bring here, now.
  bool mayFetch(const QString& id) const;
  // fetched() or failed() follows. Throws Error(badArgument) where there is nothing to fetch. `newest`: what another
  // machine needs to go on, and so the best one too.
  enum class Which { best, newest };
  void fetch(const QString& id, Which which = Which::best);
  // Whether the run could go on from here without losing a step or its best model: both checkpoints are on this
  // machine.
  bool newestIsHere(const QString& id) const;
  bool isFetching(const QString& id) const { return m_tasks.contains(id); }
  double share(const QString& id) const { return m_tasks.value(id).share; }  // -1 = cannot be told yet
  // A run that just ended is brought here by itself: its host says so.
  bool comesByItself(const QString& id) const;

 Q_SIGNALS:
  void changed(const QString& id);  // a fetch began, went on or ended
  void fetched(const QString& id, const QString& file);
  void failed(const QString& id, const QString& sentence);

 private:
  struct Task {
    QString host, pointer,
        file;  // "best.json"; "checkpoints/step-00000128.safetensors", empty while the pointer is read
    double share = -1;
    bool andBest = false;  // it is the newest, and the best one comes after it
    bool patient = false;  // nobody waits: it goes on whenever the line is back
  };
  const Host* hostOf(const RunRecord& run) const;
  void begin(const QString& id, const Task& task);
  void go(const QString& id);
  void listen(const QString& host, HostLine& line);
  void lineChanged(const QString& host);
  void arrived(const QString& id, const QString& file);
  void end(const QString& id, const QString& fault);
  void runChanged(const QString& id);

  RunStore& m_store;
  HostLines* m_hosts;
  QHash<QString, Task> m_tasks;
  QSet<HostLine*> m_heard;
  QSet<QString> m_live;
};

}  // namespace loom
