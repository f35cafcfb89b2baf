#pragma once
// A run that is found by its folder: one of another list, of the command line, or of this list after it was lost.
#include "launcher/job.h"
#include "launcher/store/run_store.h"

namespace loom {

struct FoundRun {
  RunRecord record;  // of one that began: starting, until its log says otherwise
  bool waits = false;
  bool neverBegan = false;  // it was taken from the queue: there is no log to read
};

// As the folder and what a person gave the run say, for RunStore::add(). `project`: the file it is to belong to,
// whatever they say. Throws Error(missingFile, badData) for a folder that is none.
FoundRun foundRun(const RunStore& store, const QString& folder, const QString& project = {});

// What the list should have and lost, without reading a log: oldest first. Folders that are gone are left out.
QList<FoundRun> lostRuns(const RunStore& store);

}  // namespace loom
