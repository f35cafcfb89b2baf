#pragma once
// One `loom` on this machine, in a session of its own: it outlives the program that started it. A shell stands around
// it only to note how it ended, so that a later start of the IDE still knows.
#include <QString>
#include <QStringList>
#include <optional>

namespace loom {

struct ProcessIdentity {
  qint64 id = 0;     // leader of the session and of its process group
  qint64 start = 0;  // clock ticks since boot
  QString bootId;
};

struct ProcessEnd {
  int code = 0;    // exit code, when no signal ended it
  int signal = 0;  // 0 = none
};

// Starts `program arguments`, standard input empty, output appended to FOLDER/log.txt, end noted in FOLDER/exit.
// Throws Error (missingFile, inputOutput) when it cannot be started.
ProcessIdentity startDetached(const QString& folder, const QString& program, const QStringList& arguments);

// Whether this very process (not one that got its number later) is there, or another one of its group: the shell may
// have been ended, and loom goes on.
bool isAlive(const ProcessIdentity& process);
// To every process of the group; false when it is gone.
bool sendSignal(const ProcessIdentity& process, int signal);
// How it ended; nothing while it runs. Reaps it when it is our child.
std::optional<ProcessEnd> processEnd(const ProcessIdentity& process, const QString& folder);

// "was ended by signal 9 (killed)", "ended with exit code 3"
QString describe(const ProcessEnd& end);
// The last line that is not empty; of a long file only its end is read.
QString lastLineOf(const QString& file);

// The program `loom`: GRADLOOM_PROGRAM, beside this program, in the build tree, in PATH. Empty where there is none.
QString findLoom();

}  // namespace loom
