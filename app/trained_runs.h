#pragma once
// What the window knows of the weights that runs left: which runs have some here, which of them is the best, and which
// run may go on from where it was.
#include <QList>
#include <QStringList>

#include "launcher/store/run_record.h"

namespace loom {

class Models;
class RunMetrics;

// Whether a checkpoint of the run lies on this machine.
bool hasWeightsHere(const RunRecord& run);
// Of the runs with weights here the one with the best value of the metric that the newest of them is compared by; the
// newest where none was measured. Null where none has weights.
const RunRecord* bestTrained(const QList<RunRecord>& runs, const RunMetrics& metrics);
// Whether it was stopped or failed with a checkpoint to go on from, here or on its host. Without one it would only fail
// again in the same way.
bool mayResume(const RunRecord& run, const Models& models);

// Which weights of a run: the words that `loom` takes, and those that a person reads.
enum class RunWeights { best, last };
const char* toKey(RunWeights weights);
// "Best, epoch 7", "Last, epoch 10"; of the best ones only where some were told apart from the last.
QString wordsOf(const RunRecord& run, RunWeights weights);
bool hasBest(const RunRecord& run);

}  // namespace loom
