// How the launcher finds runs again: those of the last session, those that were started elsewhere.
#include <QFileInfo>

#include "engine/base/error.h"
#include "launcher/found_run.h"
#include "launcher/launcher.h"

namespace loom {

void Launcher::attach() {
  for (const QString& folder : m_store.foldersToRead()) {
    try {
      const QString id = openFolder(folder);
      m_foreign.remove(id);
      if (m_reading.contains(id)) m_rediscovered.insert(id);
    } catch (const Error&) {
      // The folder is gone or was emptied: nothing to show.
    }
  }
  for (const RunRecord& run : m_store.runs()) {
    if ((!isLive(run.state) && run.state != RunState::queued) || m_active.contains(run.id) ||
        m_reading.contains(run.id))
      continue;
    try {
      const JobFile file = jobFileOf(m_store, run);
      m_store.setHost(run.id, file.host);
      if (run.state == RunState::queued && file.queued) {
        enqueue(run.id);
        continue;
      }
    } catch (const Error& error) {  // nobody tells where it is
      m_store.change(run.id, [&](RunRecord& record) { record.message = QString::fromStdString(error.what()); });
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
      Active active{.executor = &executor};
      if (executor.mayStartAgain()) active.lastWord = lastWordOf(run);
      m_active.insert(run.id, active);
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
  return takeFolder(folder, project, RunStore::OnDisk::now);
}

QString Launcher::takeFolder(const QString& folder, const QString& project, RunStore::OnDisk onDisk) {
  if (const RunRecord* known = m_store.findFolder(QFileInfo(folder).canonicalFilePath())) {
    if (known->deleted > 0) m_store.restore(known->id);
    return known->id;
  }
  const FoundRun found = foundRun(m_store, folder, project);
  const QString id = m_store.add(found.record, onDisk);
  if (found.neverBegan) return id;
  m_pump.unfollow(id);  // where the list was lost under our hands, it has nothing of what was read
  follow(id);
  if (m_active.contains(id)) return id;
  m_reading.insert(id);
  m_foreign.insert(id);
  m_pump.drain(id);
  return id;
}

bool Launcher::takeIn(const QString& folder, const QString& project) {
  const QString path = QFileInfo(folder).canonicalFilePath();
  if (const RunRecord* const known = m_store.findFolder(path); known && known->project.isEmpty() && !project.isEmpty())
    m_store.change(known->id, [&](RunRecord& changed) { changed.project = project; });  // it was moved, and is back
  if (m_store.findFolder(path) || m_store.wasRemoved(path) || !QFileInfo::exists(path + "/events.jsonl")) return false;
  takeFolder(path, project, RunStore::OnDisk::soon);  // it would be found here again
  return true;
}

}  // namespace loom
