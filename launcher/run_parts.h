#pragma once
// What another machine needs to go on with a run: its description, its log up to now and its checkpoints.
#include <QString>
#include <QStringList>

#include "launcher/store/run_store.h"

namespace loom {

// Names of files in the run's `checkpoints`, as its events tell; empty = none was written.
struct RunCheckpoints {
  QString newest, best;
};
RunCheckpoints checkpointsOf(RunStore& store, const QString& id);

// The file name that a pointer (last.json, best.json) names; a name only, which leads nowhere else. Empty = there is
// none.
QString pointedCheckpoint(const QString& pointer);

// The files of the run's folder that go along, as paths within it; those to be replaced on the other machine included.
// Throws Error(missingFile) where its newest checkpoint or its description is not in the folder.
QStringList runParts(const QString& folder);

// The project that its starts are given: one that was begun on the command line has none but in its run.json. Throws
// Error.
void requireSnapshot(const QString& folder);

}  // namespace loom
