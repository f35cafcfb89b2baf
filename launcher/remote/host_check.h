#pragma once
// What a host offers and what stands in the way, line by line as it becomes known; every line that is not well has a
// remedy to copy.
#include <QMetaType>
#include <QString>

#include "launcher/hosts/host.h"
#include "launcher/remote/agent_client.h"

namespace loom {

struct CheckLine {
  enum class Status { well, doubtful, failed };
  QString group;  // "Connection", "Programs", "Limits and room", "Network, measured"
  QString name;   // "Open files"
  Status status = Status::well;
  QString finding;  // with both numbers
  QString why;      // what would go wrong
  QString remedy;   // a command to copy; empty where all is well
  double milliseconds = -1;
};

struct CheckWish {
  Host host;
  qint64 bytesNeeded = 0;  // on the host's disk, for the data and some checkpoints
  QString program, base;   // of the engine there
  double clockAhead = 0;   // seconds that the host's clock is ahead of ours
};

// Lines from what the agent answered to "facts".
QVector<CheckLine> judgeFacts(const Json& facts, const CheckWish& wish);
// Lines from the output of a real start on all places of the host: one line of JSON a rank (probeFacts), and how it
// ended.
QVector<CheckLine> judgeProbe(const QString& output, int code, double milliseconds, const CheckWish& wish);

// Open files that a job of so many ranks may want: sockets to every other rank of the same host and its own files.
int openFilesFor(int ranks);

}  // namespace loom

Q_DECLARE_METATYPE(loom::CheckLine)
