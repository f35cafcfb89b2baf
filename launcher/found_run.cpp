#include "launcher/found_run.h"

#include <QCoreApplication>
#include <QCryptographicHash>
#include <QFileInfo>

#include "engine/base/error.h"
#include "engine/search/study.h"

namespace loom {

FoundRun foundRun(const RunStore& store, const QString& folder, const QString& project) {
  const QFileInfo place(folder);
  const QString path = place.canonicalFilePath();
  if (path.isEmpty() || !place.isDir()) throwError(ErrorCode::missingFile, "{} is not there", folder.toStdString());
  FoundRun found;
  RunRecord& run = found.record;
  run.folder = path;
  JobFile job;
  const bool ours = readJobFile(path, run, job);  // one that waits, or has not been heard of, has no more than this
  if (!ours && !QFileInfo::exists(path + "/events.jsonl") && !QFileInfo::exists(path + "/run.json"))
    throwError(ErrorCode::badData, "{} is no run folder: it has neither events.jsonl nor run.json", path.toStdString());
  if (const RunMark* const mark = store.mark(path)) {
    run.project = mark->project;
    run.name = mark->name;
    run.tags = mark->tags;
    run.note = mark->note;
    run.archived = mark->archived;
  }
  readRunFile(path, run);
  if (!project.isEmpty()) run.project = project;
  // A search is a group: its trials bear its name, also those that `loom search` trained.
  if (const auto trial = run.tags.isEmpty() ? readTrialFile(path.toStdString()) : std::nullopt)
    run.tags << QString::fromStdString(trial->plan.name);
  // A copied folder carries the id of its original; runs of the command line have none: the place then stands for it.
  if (run.id.isEmpty() || store.find(run.id))
    run.id = place.fileName() + '-' +
             QString::fromLatin1(QCryptographicHash::hash(path.toUtf8(), QCryptographicHash::Sha1).toHex().left(8));
  if (run.name.isEmpty()) run.name = QFileInfo(path).fileName();
  if (run.created == 0) run.created = static_cast<double>(QFileInfo(path).birthTime().toMSecsSinceEpoch()) / 1000;
  found.waits = job.queued;
  found.neverBegan = ours && !job.queued && job.start == 0 && !QFileInfo::exists(path + "/events.jsonl");
  run.state = found.neverBegan ? RunState::stopped : RunState::starting;
  if (found.neverBegan)
    run.message = QCoreApplication::translate("loom::Launcher", "Taken from the queue before it began.");
  return found;
}

QList<FoundRun> lostRuns(const RunStore& store) {
  QList<FoundRun> lost;
  for (const QString& folder : store.foldersToRead()) {
    try {
      lost << foundRun(store, folder);
    } catch (const Error&) {
      // The folder is gone or was emptied: nothing to show.
    }
  }
  return lost;
}

}  // namespace loom
