// How the launcher finds runs again: those of the last session, those that were started elsewhere.
#include <QCryptographicHash>
#include <QFileInfo>

#include "engine/base/error.h"
#include "launcher/launcher.h"

namespace loom {

void Launcher::attach() {
  for (const QString& folder : m_store.foldersToRead()) {
    try {
      const QString id = openFolder(folder);
      if (m_reading.contains(id)) m_rediscovered.insert(id);
    } catch (const Error&) {
      // The folder is gone or was emptied: nothing to show.
    }
  }
  for (const RunRecord& run : m_store.runs()) {
    if ((!isLive(run.state) && run.state != RunState::queued) || m_active.contains(run.id) ||
        m_reading.contains(run.id))
      continue;
    const JobOrder order = orderOf(run);
    if (run.state == RunState::queued && order.file.queued) {
      enqueue(run.id);
      continue;
    }
    pickUp(run);
  }
  startNext();
  Q_EMIT countsChanged();
}

void Launcher::pickUp(const RunRecord& known) {
  const RunRecord run = known;
  const JobOrder order = orderOf(run);
  try {
    Executor& executor = executorOf(order.file.host);
    if (executor.follow(order)) {
      m_active.insert(run.id, {.executor = &executor});
      follow(run.id);
      return;
    }
  } catch (const Error& error) {  // its host was taken from the list: what was read of it stays, and why no more comes
    m_store.change(run.id, [&](RunRecord& record) { record.message = QString::fromStdString(error.what()); });
    return;
  }
  // Ended, or started by other hands: read to the end, then see whether someone holds the lock.
  m_reading.insert(run.id);
  follow(run.id);
  m_pump.drain(run.id);
}

QString Launcher::openFolder(const QString& folder, const QString& project) {
  const QFileInfo place(folder);
  const QString path = place.canonicalFilePath();
  if (path.isEmpty() || !place.isDir()) throwError(ErrorCode::missingFile, "{} is not there", folder.toStdString());
  if (const RunRecord* known = m_store.findFolder(path)) {
    if (known->deleted > 0) m_store.restore(known->id);
    return known->id;
  }
  RunRecord run;
  run.folder = path;
  JobFile job;
  const bool ours = readJobFile(path, run, job);  // one that waits, or has not been heard of, has no more than this
  if (!ours && !QFileInfo::exists(path + "/events.jsonl") && !QFileInfo::exists(path + "/run.json"))
    throwError(ErrorCode::badData, "{} is no run folder: it has neither events.jsonl nor run.json", path.toStdString());
  readRunFile(path, run);
  if (!project.isEmpty()) run.project = project;
  // A copied folder carries the id of its original; runs of the command line have none: the place then stands for it.
  if (run.id.isEmpty() || m_store.find(run.id))
    run.id = place.fileName() + '-' +
             QString::fromLatin1(QCryptographicHash::hash(path.toUtf8(), QCryptographicHash::Sha1).toHex().left(8));
  if (run.name.isEmpty()) run.name = QFileInfo(path).fileName();
  if (run.created == 0) run.created = static_cast<double>(QFileInfo(path).birthTime().toMSecsSinceEpoch()) / 1000;
  const bool neverBegan = ours && !job.queued && job.start == 0 && !QFileInfo::exists(path + "/events.jsonl");
  run.state = neverBegan ? RunState::stopped : RunState::starting;  // until its log says otherwise
  if (neverBegan) run.message = tr("Taken from the queue before it began.");
  const QString id = m_store.add(run);
  if (neverBegan) return id;
  m_reading.insert(id);
  follow(id);
  m_pump.drain(id);
  return id;
}

bool Launcher::takeIn(const QString& folder, const QString& project) {
  const QString path = QFileInfo(folder).canonicalFilePath();
  if (m_store.findFolder(path) || m_store.wasRemoved(path) || !QFileInfo::exists(path + "/events.jsonl")) return false;
  openFolder(path, project);
  return true;
}

}  // namespace loom
