// Where the open project is saved and what it is called.
#include <QDir>
#include <QFileInfo>

#include "app/preferences.h"
#include "app/run_scan.h"
#include "app/samples.h"
#include "app/workspace.h"
#include "widgets/document/texts.h"

namespace loom {

Outcome Workspace::save(ProjectDocument::Overwrite foreignChanges) {
  if (!m_document) return Outcome::done();
  if (!m_document->path().isEmpty()) return m_document->save(foreignChanges);
  const QString path = m_drafts.freeFile(suggestedName());
  const Outcome saved = saveAs(path);
  if (saved)
    Q_EMIT keptAs(path);
  else
    QDir().rmdir(QFileInfo(path).absolutePath());
  return saved;
}

namespace {

// Runs of a project that lay in this place and was moved away are not those of the one that is begun here. They belong
// to none until they are found again.
void letGoOfMoved(RunStore& store, const QString& project) {
  for (const RunRecord& run : store.runs(project, RunStore::Deleted::include))
    if (!QFileInfo::exists(run.folder)) store.change(run.id, [](RunRecord& changed) { changed.project.clear(); });
}

}  // namespace

Outcome Workspace::saveAs(const QString& path) {
  const QString before = isDraft() ? m_document->path() : QString(), lay = m_document->path();
  const Outcome saved = m_document->saveAs(path);
  if (!saved) return saved;
  if (m_document->path() != lay) letGoOfMoved(*m_store, m_document->path());
  if (!isDraft()) {
    m_context.preferences->addRecentProject(m_document->path());
    // A draft that was given a name is none any more; what it trained belongs to what it became.
    if (!before.isEmpty()) {
      moveRuns(before, m_document->path());
      QFile::remove(before);
      QDir().rmdir(QFileInfo(before).absolutePath());  // unless runs or data stand there
    }
  }
  m_context.preferences->setHostOf(m_document->path(), m_host, m_ranks);
  return saved;
}

bool Workspace::isDraft() const {
  return m_document && (m_document->path().isEmpty() || m_drafts.holds(m_document->path()));
}

// After the file that it is about, else what it is called now.
QString Workspace::suggestedName() const {
  const QString name = m_document->name();
  const bool nameless =
      name.isEmpty() || name == ProjectDocument::tr("Untitled") || name.startsWith(QLatin1String("untitled"));
  if (!nameless) return name;
  for (const DatasetSpec& dataset : m_document->project().datasets) {
    const QString file = QFileInfo(q(dataset.csv)).completeBaseName();
    if (!file.isEmpty() && file != "train" && file != "training") return file;
    if (!file.isEmpty()) return QFileInfo(QFileInfo(q(dataset.csv)).absolutePath()).fileName();
  }
  return QStringLiteral("untitled");
}

QString Workspace::faultOfName(const QString& name) const {
  if (!m_document || name.isEmpty() || (name == m_document->name() && !isDraft())) return {};
  if (name.contains('/') || name.startsWith('.'))
    return tr("A name has no slash and begins with no point: it is that of a file.");
  if (isDraft())
    return QFileInfo::exists(projectsFolder() + '/' + name) ? tr("There is a project %1 already.").arg(name)
                                                            : QString();
  return QFileInfo::exists(m_document->folder() + '/' + name + ".loom")
             ? tr("There is a %1.loom in this folder already.").arg(name)
             : QString();
}

Outcome Workspace::nameProject(const QString& name) {
  if (!m_document) return Outcome::refused(tr("Open a project first."));
  if (name.isEmpty()) return Outcome::refused(tr("A project needs a name."));
  if (const QString fault = faultOfName(name); !fault.isEmpty()) return Outcome::refused(fault);
  if (isDraft()) {
    const QString folder = projectsFolder() + '/' + name;
    QDir().mkpath(folder);
    const Outcome saved = saveAs(folder + '/' + name + ".loom");
    if (!saved) QDir().rmdir(folder);
    return saved;
  }
  const QString before = m_document->path(), after = m_document->folder() + '/' + name + ".loom";
  if (before == after) return Outcome::done();
  moveRuns(before, after);  // first: whoever hears of the new path asks for its runs
  if (const Outcome renamed = m_document->renameFile(name); !renamed) {
    moveRuns(after, before);
    return renamed;
  }
  m_context.preferences->moveProject(before, after);
  if (m_scan) m_scan = std::make_unique<RunScan>(*m_launcher, m_document->folder() + "/runs", m_document->path());
  return Outcome::done();
}

void Workspace::moveRuns(const QString& from, const QString& to) {
  for (const RunRecord& run : m_store->runs(from, RunStore::Deleted::include))
    m_store->change(run.id, [&to](RunRecord& changed) { changed.project = to; });
}

}  // namespace loom
