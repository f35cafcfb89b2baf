#pragma once
// Jobs as processes of this machine.
#include <QHash>
#include <QTimer>
#include <optional>

#include "launcher/executor.h"
#include "launcher/local_process.h"

namespace loom {

class LocalExecutor : public Executor {
  Q_OBJECT

 public:
  // `program`: loom; empty = findLoom() when it is first needed.
  LocalExecutor(QString program, int atOnce, QObject* parent = nullptr);

  void start(const JobOrder& order) override;
  bool follow(const JobOrder& order) override;
  void forget(const QString& id) override { m_watched.remove(id); }
  void command(const JobOrder& order, const Json& command) override;
  void interrupt(const QString& id) override;
  void kill(const QString& id) override;
  int atOnce() const override { return m_atOnce; }

 private:
  struct Watched {
    ProcessIdentity process;  // id 0: someone else's, known by its lock alone
    QString folder;
  };
  void watch();
  void add(const QString& id, const Watched& watched);

  QString m_program;
  int m_atOnce;
  QHash<QString, Watched> m_watched;
  QTimer m_watch;
};

}  // namespace loom
