// How the launcher finds runs again: those of the last session, those that were started elsewhere.
#include <QCryptographicHash>
#include <QFileInfo>

#include "engine/base/error.h"
#include "launcher/launcher.h"

namespace loom {

void Launcher::attach() {
  for (const QString& folder : m_store.foldersToRead()) {
    try {
      openFolder(folder);
    } catch (const Error&) {
      // The folder is gone or was emptied: nothing to show.
    }
  }
  for (const RunRecord& run : m_store.runs()) {
    if ((!isLive(run.state) && run.state != RunState::queued) || m_active.contains(run.id) || m_reading.contains(run.id)) continue;
    const JobOrder order = orderOf(run);
    if (run.state == RunState::queued && order.file.queued) {
      enqueue(run.id);
      continue;
    }
    Executor* executor = nullptr;
    try {
      executor = &executorOf(order.file.host);
    } catch (const Error& error) {  // its host was taken from the list: what was read of it stays, and why no more comes
      m_store.change(run.id, [&](RunRecord& record) { record.message = QString::fromStdString(error.what()); });
      continue;
    }
    if (executor->follow(order)) {
      m_active.insert(run.id, {.executor = executor});
      follow(run.id);
    } else {
      // Ended, or started by other hands: read to the end, then see whether someone holds the lock.
      m_reading.insert(run.id);
      follow(run.id);
      m_pump.drain(run.id);
    }
  }
  startNext();
  Q_EMIT countsChanged();
}

QString Launcher::openFolder(const QString& folder, const QString& project) {
  const QFileInfo place(folder);
  const QString path = place.canonicalFilePath();
  if (path.isEmpty() || !place.isDir()) throwError(ErrorCode::missingFile, "{} is not there", folder.toStdString());
  if (const RunRecord* known = m_store.findFolder(path)) {
    if (known->deleted > 0) m_store.restore(known->id);
    return known->id;
  }
  if (!QFileInfo::exists(path + "/events.jsonl") && !QFileInfo::exists(path + "/run.json"))
    throwError(ErrorCode::badData, "{} is no run folder: it has neither events.jsonl nor run.json", path.toStdString());
  RunRecord run;
  run.folder = path;
  JobFile job;
  readJobFile(path, run, job);
  readRunFile(path, run);
  if (!project.isEmpty()) run.project = project;
  // A copied folder carries the id of its original; runs of the command line have none: the place then stands for it.
  if (run.id.isEmpty() || m_store.find(run.id))
    run.id = place.fileName() + '-' + QString::fromLatin1(QCryptographicHash::hash(path.toUtf8(), QCryptographicHash::Sha1).toHex().left(8));
  if (run.name.isEmpty()) run.name = QFileInfo(path).fileName();
  if (run.created == 0) run.created = static_cast<double>(QFileInfo(path).birthTime().toMSecsSinceEpoch()) / 1000;
  run.state = RunState::starting;  // until its log says otherwise
  const QString id = m_store.add(run);
  m_reading.insert(id);
  follow(id);
  m_pump.drain(id);
  return id;
}

}  // namespace loom
