#include "app/trained_runs.h"

#include <QCoreApplication>
#include <QFile>
#include <cmath>

#include "app/run_metrics.h"
#include "launcher/launcher.h"
#include "launcher/remote/models.h"

namespace loom {
namespace {

bool hasPointer(const RunRecord& run, const char* name) {
  return QFile::exists(run.folder + QStringLiteral("/checkpoints/") + QString::fromLatin1(name));
}

QString translated(const char* text) {
  return QCoreApplication::translate("loom::TrainedRuns", text);
}

QString epochText(double epoch) {
  return QString::number(std::round(epoch * 10) / 10);
}

}  // namespace

bool hasWeightsHere(const RunRecord& run) {
  return hasBest(run) || hasPointer(run, "last.json");
}

bool hasBest(const RunRecord& run) {
  return hasPointer(run, "best.json");
}

const RunRecord* bestTrained(const QList<RunRecord>& runs, const RunMetrics& metrics) {
  const RunRecord *newest = nullptr, *best = nullptr;
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    if (!hasWeightsHere(*run)) continue;
    if (!newest) newest = &*run;
    if (!std::isfinite(run->best) || run->metric.isEmpty()) continue;
    if (!best) {
      best = &*run;
    } else if (run->metric == best->metric && run->metricOfValidation == best->metricOfValidation) {
      const bool higher = metrics.better(*run, run->metric) == Better::higher;
      if (higher ? run->best > best->best : run->best < best->best) best = &*run;
    }
  }
  return best ? best : newest;
}

bool mayResume(const RunRecord& run, const Models& models) {
  return Launcher::may(run.state, RunAction::resume) && !models.place(run.id).isNowhere();
}

const char* toKey(RunWeights weights) {
  return weights == RunWeights::best ? "best" : "last";
}

QString wordsOf(const RunRecord& run, RunWeights weights) {
  const bool best = weights == RunWeights::best;
  const double epoch = best ? run.bestEpoch : run.epoch;
  const QString word = translated(best ? "Best" : "Last");
  return std::isfinite(epoch) && epoch > 0 ? translated("%1, epoch %2").arg(word, epochText(epoch)) : word;
}

}  // namespace loom
