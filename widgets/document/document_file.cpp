// ProjectDocument: its file, what other programs do to it, and what a crash leaves.
#include <QFile>
#include <QFileInfo>
#include <QSignalBlocker>
#include <algorithm>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "widgets/document/arrange.h"
#include "widgets/document/project_document.h"
#include "widgets/document/project_paths.h"
#include "widgets/document/texts.h"

namespace loom {

namespace {

bool hasErrors(const std::vector<Problem>& problems) {
  return std::any_of(problems.begin(), problems.end(),
                     [](const Problem& problem) { return problem.severity == Severity::error; });
}

}  // namespace

void ProjectDocument::newProject() {
  ReadProject read;
  read.readable = true;
  read.project.networks.push_back({"main", {}, {}});
  read.project.training.updates.push_back(defaultUpdate());
  load(std::move(read), {}, {}, tr("Untitled"));
}

Outcome ProjectDocument::open(const QString& path) {
  const QFileInfo info(path);
  std::string text;
  ReadProject read;
  try {
    text = readFile(toPath(path));
    read = readProject(text, info.fileName().toStdString());
  } catch (const Error& error) {
    m_openProblems = {Problem{.message = error.what()}};
    return Outcome::refused(QString::fromUtf8(error.what()));
  }
  if (!read.readable) {
    m_openProblems = read.problems;
    return Outcome::refused(read.problems.empty() ? tr("%1 holds no project").arg(info.fileName())
                                                  : QString::fromStdString(read.problems.front().message));
  }
  load(std::move(read), std::move(text), info.absoluteFilePath(), info.completeBaseName());
  if (const auto time = recoverable()) Q_EMIT recoveryOffered(*time);
  return Outcome::done();
}

Outcome ProjectDocument::openText(std::string_view text, const QString& name) {
  ReadProject read = readProject(text, name.toStdString());
  if (!read.readable) {
    m_openProblems = read.problems;
    return Outcome::refused(read.problems.empty() ? tr("%1 holds no project").arg(name)
                                                  : QString::fromStdString(read.problems.front().message));
  }
  load(std::move(read), {}, {}, name);
  return Outcome::done();
}

void ProjectDocument::load(ReadProject read, std::string diskText, const QString& path, const QString& name) {
  if (isModified()) writeRecovery();
  {
    const QSignalBlocker quiet(&m_stack);
    m_stack.clear();
  }
  m_project = std::move(read.project);
  if (!path.isEmpty()) makePathsAbsolute(m_project, QFileInfo(path).absolutePath());
  placeUnplaced(m_project);
  m_index = ProjectIndex(m_project);
  m_keepOriginal = hasErrors(read.problems);
  m_openProblems = std::move(read.problems);
  m_diskText = std::move(diskText);
  m_foreignText.clear();
  m_path = path;
  m_name = name;
  m_problems.reset();
  m_checks.begin(m_project);
  m_autosave.stop();
  m_recovery.attach(path, name);
  while (const auto left = m_recovery.find()) {  // the file says it already
    if (left->text != m_diskText || !RecoveryFile::remove(*left)) break;
  }
  cancelArranging();
  watchFile();
  Q_EMIT pathChanged();
  Q_EMIT opened();
  setSaveState(SaveState::saved);
  m_announce.start(0);
}

// A file that is replaced is another one: it has to be named again.
void ProjectDocument::watchFile() {
  if (const QStringList watched = m_watcher.files(); !watched.isEmpty()) m_watcher.removePaths(watched);
  if (QFileInfo::exists(m_path)) m_watcher.addPath(m_path);
}

bool ProjectDocument::changedOutside() const {
  if (m_path.isEmpty() || !QFileInfo::exists(m_path)) return false;
  try {
    return readFile(toPath(m_path)) != m_diskText;
  } catch (const Error&) {
    return false;  // saving says why it cannot be read
  }
}

void ProjectDocument::lookOutside() {
  watchFile();
  if (m_path.isEmpty() || !QFileInfo::exists(m_path)) return;
  try {
    std::string text = readFile(toPath(m_path));
    if (text == m_diskText || text == m_foreignText) return;
    m_foreignText = std::move(text);
  } catch (const Error&) {
    return;
  }
  Q_EMIT foreignChange();
}

Outcome ProjectDocument::reload() {
  std::string text;
  ReadProject read;
  try {
    text = readFile(toPath(m_path));
    read = readProject(text, QFileInfo(m_path).fileName().toStdString());
  } catch (const Error& error) {
    return Outcome::refused(QString::fromUtf8(error.what()));
  }
  if (!read.readable)
    return Outcome::refused(read.problems.empty() ? tr("%1 holds no project").arg(m_path)
                                                  : QString::fromStdString(read.problems.front().message));
  placeUnplaced(read.project);
  makePathsAbsolute(read.project, folder());
  replace(tr("Reload"), std::move(read.project));
  m_diskText = std::move(text);
  m_foreignText.clear();
  m_keepOriginal = hasErrors(read.problems);
  m_openProblems = std::move(read.problems);
  m_problems.reset();
  m_stack.setClean();
  m_autosave.stop();
  m_recovery.discard();
  setSaveState(SaveState::saved);
  m_announce.start(0);
  return Outcome::done();
}

Outcome ProjectDocument::save(Overwrite foreignChanges) {
  if (m_path.isEmpty()) return Outcome::refused(tr("This project has no file yet: choose where to save it"));
  if (foreignChanges == Overwrite::refuse && QFileInfo::exists(m_path)) {
    try {
      if (readFile(toPath(m_path)) != m_diskText) {
        setSaveState(SaveState::failed,
                     tr("%1 was changed by another program: overwrite it, reload it, or save elsewhere")
                         .arg(QFileInfo(m_path).fileName()));
        return Outcome::refused(m_saveProblem);
      }
    } catch (const Error& error) {
      setSaveState(SaveState::failed, QString::fromUtf8(error.what()));
      return Outcome::refused(m_saveProblem);
    }
  }
  return write(m_path);
}

Outcome ProjectDocument::saveAs(const QString& wanted) {
  QString path = QFileInfo(wanted).absoluteFilePath();
  if (QFileInfo(path).suffix().isEmpty()) path += QStringLiteral(".loom");
  if (const Outcome outcome = write(path); !outcome) return outcome;
  if (path != m_path) {
    m_recovery.discard();
    m_path = path;
    m_name = QFileInfo(path).completeBaseName();
    m_recovery.attach(m_path, m_name);
    watchFile();
    Q_EMIT pathChanged();
  }
  setSaveState(SaveState::saved);
  return Outcome::done();
}

Outcome ProjectDocument::renameFile(const QString& name) {
  if (m_path.isEmpty()) return Outcome::refused(tr("This project has no file yet: choose where to save it"));
  const QString path = folder() + '/' + name + QStringLiteral(".loom");
  if (path == m_path) return Outcome::done();
  if (QFileInfo::exists(path))
    return Outcome::refused(tr("There is a %1 in this folder already").arg(QFileInfo(path).fileName()));
  QFile file(m_path);
  if (!file.rename(path))
    return Outcome::refused(tr("%1 cannot be renamed: %2").arg(QFileInfo(m_path).fileName(), file.errorString()));
  m_recovery.discard();
  m_path = path;
  m_name = name;
  m_recovery.rename(m_path, m_name);
  if (isModified()) m_autosave.start();
  watchFile();
  Q_EMIT pathChanged();
  Q_EMIT saveStateChanged();
  return Outcome::done();
}

Outcome ProjectDocument::write(const QString& path) {
  setSaveState(SaveState::saving);
  m_missingFolder.clear();
  if (const QString into = QFileInfo(path).absolutePath(); !QFileInfo::exists(into)) {
    m_missingFolder = into;
    setSaveState(SaveState::failed, tr("the folder %1 is not there").arg(into));
    return Outcome::refused(m_saveProblem);
  }
  try {
    const std::string now = projectText(m_project, QFileInfo(path).absolutePath(), m_diskText, folder());
    // What could not be read is not in memory: the original is kept before it is written over.
    if (m_keepOriginal && path == m_path) writeFileAtomically(toPath(path + QStringLiteral(".bak")), m_diskText);
    writeFileAtomically(toPath(path), now);
    m_diskText = now;
    m_foreignText.clear();
    m_keepOriginal = false;
    m_openProblems.clear();
    m_problems.reset();
  } catch (const Error& error) {
    setSaveState(SaveState::failed, QString::fromUtf8(error.what()));
    return Outcome::refused(m_saveProblem);
  }
  m_autosave.stop();
  m_recovery.discard();
  m_stack.setClean();
  setSaveState(SaveState::saved);
  m_announce.start(0);
  return Outcome::done();
}

std::optional<QDateTime> ProjectDocument::recoverable() const {
  const auto found = m_recovery.find();
  if (!found || found->text == m_diskText) return std::nullopt;
  return found->time;
}

Outcome ProjectDocument::recover() {
  const auto found = m_recovery.find();
  if (!found) return Outcome::refused(tr("There is nothing to recover"));
  ReadProject read = readProject(found->text, "recovered");
  if (!read.readable) return Outcome::refused(tr("The recovery file cannot be read"));
  placeUnplaced(read.project);
  if (!m_path.isEmpty()) makePathsAbsolute(read.project, folder());
  m_recoveredAt = found->time.toString(QStringLiteral("HH:mm"));
  replace(tr("Recover %1").arg(m_recoveredAt), std::move(read.project));
  if (isModified()) {
    setSaveState(SaveState::recovered);
    writeRecovery();
    m_recovery.finish();
    if (!m_recovery.stands()) return Outcome::done();  // the one is gone only when the other stands
  }
  RecoveryFile::remove(*found);
  return Outcome::done();
}

void ProjectDocument::takeOver(Project project, const QString& name) {
  ReadProject blank;
  blank.readable = true;
  load(std::move(blank), {}, {}, name);
  placeUnplaced(project);
  replace(tr("Import %1").arg(name), std::move(project));
}

Outcome ProjectDocument::recoverUnsaved(const Orphan& orphan) {
  ReadProject read;
  try {
    read = readProject(RecoveryFile::read(orphan), orphan.name.toStdString());
  } catch (const Error& error) {
    return Outcome::refused(QString::fromUtf8(error.what()));
  }
  if (!read.readable) return Outcome::refused(tr("What was left of %1 cannot be read").arg(orphan.name));
  ReadProject blank;
  blank.readable = true;
  load(std::move(blank), {}, {}, orphan.name);
  placeUnplaced(read.project);
  replace(tr("Recover %1").arg(orphan.name), std::move(read.project));
  m_recoveredAt = orphan.time.toString(QStringLiteral("HH:mm"));
  setSaveState(SaveState::recovered);
  writeRecovery();
  m_recovery.finish();
  if (m_recovery.stands()) RecoveryFile::remove(orphan);  // the one is gone only when the other stands
  return Outcome::done();
}

void ProjectDocument::discardRecovery() {
  m_autosave.stop();
  m_recovery.discard();
  if (!isModified()) return;
  const QSignalBlocker quiet(&m_stack);
  m_stack.setClean();  // closing writes no other
}

void ProjectDocument::discardOffered() {
  if (const auto found = m_recovery.find()) RecoveryFile::remove(*found);
}

void ProjectDocument::restoreRecovery(const Recovered& recovered) {
  RecoveryFile::restore(recovered);
  if (const auto time = recoverable()) Q_EMIT recoveryOffered(*time);
}

void ProjectDocument::writeRecovery() {
  m_autosave.stop();
  if (!isModified()) return;
  // Ten thousand nodes take longer to write out than a window may wait: a copy is made here, the text there.
  // One that stands apart from the project's file is read without it.
  const QString from = m_path.isEmpty() || m_recovery.openElsewhere() ? QString() : folder();
  m_recovery.write(
      [project = m_project, from, before = m_diskText] { return projectText(project, from, before, from); },
      [this](const QString& reason) {
        QMetaObject::invokeMethod(
            this, [this, reason] { setSaveState(SaveState::failed, reason); }, Qt::QueuedConnection);
      });
}

}  // namespace loom
