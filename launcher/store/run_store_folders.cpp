// What of the store can be read without its database: where runs are, and what a person gave them.
#include <QFile>
#include <QSet>

#include "launcher/store/run_store.h"

namespace loom {

// Later lines hold: a folder that was removed may have come back.
void RunStore::readFolders() {
  m_folders.clear();
  m_there.clear();
  m_removed.clear();
  QFile list(m_folder + "/folders.txt");
  if (!list.open(QIODevice::ReadOnly)) return;
  for (const QString& line : QString::fromUtf8(list.readAll()).split('\n', Qt::SkipEmptyParts))
    takeFolder(line.startsWith('-') ? line.mid(1) : line, line.startsWith('-') ? Folder::removed : Folder::there);
}

bool RunStore::takeFolder(const QString& folder, Folder what) {
  QSet<QString>&into = what == Folder::removed ? m_removed : m_there,
  &from = what == Folder::removed ? m_there : m_removed;
  if (into.contains(folder)) return false;
  into.insert(folder);
  from.remove(folder);
  if (what == Folder::removed)
    m_folders.removeAll(folder);
  else
    m_folders.append(folder);
  return true;
}

void RunStore::noteFolder(const RunRecord& run) {
  const Folder what = run.deleted > 0 ? Folder::removed : Folder::there;
  if (takeFolder(run.folder, what))
    m_unsavedFolders += (what == Folder::removed ? "-" : "") + run.folder.toUtf8() + '\n';
}

void RunStore::saveNotes() {
  if (!m_unsavedFolders.isEmpty() && appendLines(m_folder + "/folders.txt", m_unsavedFolders)) m_unsavedFolders.clear();
  m_marks.save();
}

QStringList RunStore::foldersToRead() const {
  QSet<QString> known;
  for (const auto& each : m_entries) known.insert(each->record.folder);
  QStringList lost;
  for (const QString& folder : m_folders)
    if (!known.contains(folder)) lost << folder;
  return lost;
}

bool RunStore::noteMark(const RunRecord& run) {
  const RunMark* const known = m_marks.find(run.folder);
  return m_marks.note(run.folder, {.project = run.project,
                                   .name = run.name,
                                   .note = run.note,
                                   .host = known ? known->host : std::nullopt,
                                   .tags = run.tags,
                                   .colour = run.colour,
                                   .archived = run.archived});
}

void RunStore::setHost(const QString& id, const QString& host) {
  const RunRecord* const run = find(id);
  const RunMark* const known = run ? m_marks.find(run->folder) : nullptr;
  if (!known) return;
  RunMark mark = *known;
  mark.host = host;
  m_marks.note(run->folder, mark);
  m_marks.save();
}

}  // namespace loom
