#pragma once
// The door for scripts: what the window does with hosts and runs, a terminal can do, by the same launcher, store and
// list of hosts. Qt Core only; there is no display. Exit codes are those of `loom` (engine/run/exit_code.h); 130 = the
// terminal looked away and the run goes on.
#include <QString>
#include <QStringList>

#include "launcher/remote/host_line.h"

namespace loom {

inline constexpr int kExitDetached = 130;

struct DoorOptions {
  QString dataFolder;      // of the list of runs and hosts.json
  QString program;         // `loom`; empty = looked for
  LineOptions line;        // how hosts are reached; a bundle that is not named is looked for
  int patienceMs = 60000;  // with a host that is not reached, before a run is there
};

// Whether a command line that begins with this word is one for the door.
bool isDoorVerb(const QString& word);
// One line a verb, for the program's own --help.
QString doorVerbs();

// `words`: the verb and what follows it. Needs a QCoreApplication; returns the exit code, throws nothing.
int runDoor(const QStringList& words, const DoorOptions& options);

}  // namespace loom
