#pragma once
// What is to be trained, and how a run folder remembers it: job.json beside run.json, written by the launcher alone,
// and the same once more as job.copy.json: what a run is on which host must not be lost with one file.
#include <QByteArray>
#include <QString>
#include <QStringList>

#include "engine/base/json_fwd.h"
#include "launcher/store/run_record.h"

namespace loom {

// Who goes first on a host that cannot run all: one that is shared goes when nobody else wants the host, and gives way
// (with a checkpoint, from which it goes on later) when an exclusive one comes.
enum class Priority { exclusive, shared };

struct Job {
  QString id;             // chosen by the client; submitting an id twice equals once
  QString name;           // "lars-4096"; need not be unique
  QString project;        // absolute path of the .loom file; empty when it was never saved
  QByteArray snapshot;    // the project's text as of now
  QString dataFolder;     // what relative CSV paths of the snapshot start from
  QStringList overrides;  // "training.seed=2"
  QString host;           // id of a host; empty = this machine
  int ranks = 0;          // 0 = as many as the host offers
  QString runsFolder;     // where the run's folder is made; empty = `runs` beside the project
  Priority priority = Priority::exclusive;
};

// A new id: readable, in order of time, unique. "digits-20261121-101502-7f3a"
QString makeRunId(const QString& project);

// Of a project's JSON the object that holds the settings of its training; null where there is none.
Json* trainingSettings(Json& project);
// The snapshot with every relative path of a CSV or of weights made absolute, so that it trains the same from any
// folder.
QByteArray withAbsolutePaths(const QByteArray& snapshot, const QString& folder);

// What job.json holds besides the record's id, name, project, colour, tags, note.
struct JobFile {
  QString folder;
  QStringList overrides;
  qint64 process = 0;       // leader of the process group; 0 = none was started
  qint64 processStart = 0;  // clock ticks since boot, so that a reused number is not taken for it
  QString bootId;
  bool queued = false;
  bool resume = false;  // the queued or running start is a resume
  QString host;         // id; empty = this machine
  int ranks = 0;
  Priority priority = Priority::exclusive;
  bool gaveWay = false;  // it was asked to stop for another run: it goes on by itself
  int place = 0;         // in the queue
  int start = 0;         // number of the newest start: a host is told it, and starts each number once
  bool carry = false;    // it ran elsewhere: the host has to be given what it needs to go on with it (run_parts.h)
  int accepted = 0;  // the newest start that the host said it has: it is never sent there again; -1 = nobody noted it
};

class RunStore;

void writeJobFile(const RunRecord& record, const JobFile& job);  // throws Error
// False where there is none (a run that was started on the command line). Never throws: what it does not understand is
// left out.
bool readJobFile(const QString& folder, RunRecord& record, JobFile& job);
// The same, with the store's word for the host where the folder has none. Throws Error(badData) where job.json is there
// and damaged and nobody else tells where the run is: it may be training there.
JobFile jobFileOf(const RunStore& store, const RunRecord& run);
// The id of the host by the same words; empty for this machine, and where nobody tells.
QString hostIdOf(const RunStore& store, const RunRecord& run);
// Settings, project path, hosts from run.json as far as it is there and readable.
void readRunFile(const QString& folder, RunRecord& record);

}  // namespace loom
