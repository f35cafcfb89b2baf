#pragma once
// Where jobs run: this machine, or a host behind a line. The launcher sees no difference. Window's thread; nothing
// blocks.
#include <QObject>
#include <QString>

#include "engine/base/json_fwd.h"
#include "launcher/job.h"

namespace loom {

struct JobOrder {
  QString id, folder;     // the run's folder on this machine: its truth, or a mirror that follows the host's
  QString projectFolder;  // where the project stands, for data that a host has under a path of its own
  JobFile file;           // as job.json has it
};

struct JobEnd {
  int code = -1;     // exit code, when no signal ended it; -1 = gone without a last word
  int signal = 0;    // 0 = none
  QString sentence;  // what the host knows of it besides
};

class Executor : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  // Begins; what becomes of it is told. May throw Error at once, or refuse later.
  virtual void start(const JobOrder& order) = 0;
  // A run that an earlier session started, or other hands. False: as far as can be told here it has ended already.
  virtual bool follow(const JobOrder& order) = 0;
  virtual void forget(const QString& id) = 0;
  // A person says that it has ended: whoever knows of it is to take it so, and nothing more is told.
  virtual void giveUp(const QString& id) { forget(id); }
  // A line for control.jsonl.
  virtual void command(const JobOrder& order, const Json& command) = 0;
  // To a run that reads no commands yet: it is to end with a checkpoint.
  virtual void interrupt(const QString& id) = 0;
  // Every rank, now. Throws Error(badArgument) where that is not ours to do.
  virtual void kill(const QString& id) = 0;
  // Whether a job that said its last word may be started again by hands that are not ours: a batch system requeues it,
  // or it continues by itself after its time limit. It has ended when ended() says so.
  virtual bool mayStartAgain() const { return false; }
  // Jobs that may run here side by side.
  virtual int atOnce() const = 0;

 Q_SIGNALS:
  // What happens before the first event, "Uploading training: 12 of 61 MiB", and how much of that is done (-1 = cannot
  // be told).
  void stage(const QString& id, const QString& sentence, double share);
  // It stands in the batch system's queue, be it for the first time or once more.
  void waits(const QString& id);
  // Something that the job's file has to remember: the process, or that the host has taken it.
  void started(const QString& id, const loom::JobFile& file);
  // It cannot be told how it goes, and why; only a person may end it then. Empty: it is known again.
  void doubted(const QString& id, const QString& sentence);
  void warned(const QString& id, const QString& sentence);
  void ended(const QString& id, const loom::JobEnd& end);
  void refused(const QString& id, const QString& sentence);
};

}  // namespace loom
