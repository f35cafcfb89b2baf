#pragma once
// A real cluster on this machine (cluster.sh), the IDE's own launcher in front of it, and a small project to train
// there with the real engine. What the launcher keeps survives close(), as it survives a window that is closed.
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <memory>

#include "launcher/launcher.h"
#include "launcher/remote/host_lines.h"

namespace loom {

class Cluster {
 public:
  explicit Cluster(const QString& folder);  // for good; makes the project where there is none
  ~Cluster();                               // ends the cluster that was started there

  // Why it cannot be started here; empty = it can. Programs besides those that both kinds need.
  static QString why(const QStringList& programs);
  bool start(const QStringList& words);  // of cluster.sh: {"up", "2"}, {"slurm"}
  static bool run(const QString& program, const QStringList& words);

  void open(const Host& host, LineOptions options);
  void close();

  RunStore& store() { return *m_store; }
  HostStore& hosts() { return *m_hosts; }
  Launcher& launcher() { return *m_launcher; }
  HostLine& line(const QString& host) { return *m_lines->line(host); }

  // The program itself, as a script starts it: no display, no terminal, this cluster's list of hosts; `home` holds
  // .ssh/config. Only while this is closed: one program at a time keeps the list.
  struct Said {
    int code = -1;
    QString out, err;
  };
  Said gradloom(const QStringList& words, const QString& home) const;

  QString path(const QString& name) const { return m_folder + '/' + name; }
  // Trains until it is stopped.
  Job job(const QString& id, const QString& host) const;
  RunState state(const QString& id) { return m_store->find(id)->state; }
  std::int64_t step(const QString& id) { return m_store->find(id)->step; }
  QString message(const QString& id) { return m_store->find(id)->message; }

  struct Rank {
    int process = 0;
    QString host;
  };
  // Those of the newest attempt, once it has done some steps; before that none.
  QVector<Rank> ranks(const QString& id);
  static bool lives(int process);
  // What is wrong with what the store shows: every step that was logged once, none missing, and the mirror the same
  // bytes as the host's. Empty = nothing.
  QString wrong(const QString& id);
  std::int64_t startedFrom(const QString& id);  // the newest attempt: after which step
  int startedWith(const QString& id);           // and with how many ranks

 private:
  QString m_folder;
  QStringList m_started;
  std::unique_ptr<RunStore> m_store;
  std::unique_ptr<HostStore> m_hosts;
  std::unique_ptr<HostLines> m_lines;
  std::unique_ptr<Launcher> m_launcher;
};

}  // namespace loom
