#pragma once
// What a run is to train: a project as it stood, and settings of the run's own on top. Read back from the folder of a
// run, it can be trained again with other seeds.
#include <QByteArray>
#include <QList>
#include <QStringList>

#include "launcher/store/run_record.h"

namespace loom {

struct PlannedRun {
  QByteArray snapshot;    // the project's text
  QStringList overrides;  // "training.epochs=20"
};

// As the run was started. Throws Error where its folder does not tell.
PlannedRun plannedAs(const RunRecord& run);
// With its settings on top: the JSON of the project as it was trained. Throws Error.
Json projectOf(const PlannedRun& planned);
// Why it cannot be trained, in one sentence: an unknown setting, a value that cannot be. Empty = nothing.
QString faultOf(const PlannedRun& planned);
// The same with another seed.
PlannedRun withSeed(PlannedRun planned, std::int64_t seed);
// `count` seeds above its own that none of `runs` has with the same settings.
QList<std::int64_t> freeSeeds(const PlannedRun& planned, const QList<RunRecord>& runs, int count);

}  // namespace loom
