#include "widgets/document/project_document.h"

#include <algorithm>

#include <QDir>
#include <QFileInfo>
#include <QSignalBlocker>

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "widgets/document/arrange.h"
#include "widgets/document/project_command.h"
#include "widgets/document/texts.h"
#include "widgets/document/setting_fields.h"

namespace loom {

namespace {

constexpr int kAutosaveMilliseconds = 500;
constexpr int kUndoLimit = 2000;
constexpr int kLookMilliseconds = 150;  // after a file changed: who writes it may not be done

bool samePlace(const Problem& a, const Problem& b) {
  return a.network == b.network && a.node == b.node && a.field == b.field && a.message == b.message;
}

bool hasErrors(const std::vector<Problem>& problems) {
  return std::any_of(problems.begin(), problems.end(), [](const Problem& problem) { return problem.severity == Severity::error; });
}

}  // namespace

ProjectDocument::ProjectDocument(QObject* parent) : QObject(parent) {
  qRegisterMetaType<ProjectChange>();
  m_stack.setUndoLimit(kUndoLimit);
  m_autosave.setSingleShot(true);
  m_autosave.setInterval(kAutosaveMilliseconds);
  m_announce.setSingleShot(true);
  connect(&m_autosave, &QTimer::timeout, this, &ProjectDocument::writeRecovery);
  connect(&m_announce, &QTimer::timeout, this, &ProjectDocument::analysisChanged);
  connect(&m_checks, &ProjectChecks::answered, this, [this] {
    m_problems.reset();
    m_announce.start(0);
  });
  m_look.setSingleShot(true);
  m_look.setInterval(kLookMilliseconds);
  connect(&m_look, &QTimer::timeout, this, &ProjectDocument::lookOutside);
  connect(&m_watcher, &QFileSystemWatcher::fileChanged, &m_look, qOverload<>(&QTimer::start));
  connect(&m_stack, &QUndoStack::cleanChanged, this, [this](bool clean) {
    setSaveState(clean ? SaveState::saved : SaveState::edited);
    if (clean) {
      m_autosave.stop();
      m_recovery.discardSoon();
    }
  });
  newProject();
}

ProjectDocument::~ProjectDocument() {
  disconnect(&m_stack, nullptr, this, nullptr);
  if (isModified()) writeRecovery();  // the window decides what becomes of it: discardRecovery() before closes for good
}

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
  cancelArranging();
  watchFile();
  Q_EMIT pathChanged();
  Q_EMIT opened();
  setSaveState(SaveState::saved);
  m_announce.start(0);
}

QString ProjectDocument::folder() const { return m_path.isEmpty() ? QDir::currentPath() : QFileInfo(m_path).absolutePath(); }

std::string ProjectDocument::text() const { return writeProject(m_project); }

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
    return Outcome::refused(read.problems.empty() ? tr("%1 holds no project").arg(m_path) : QString::fromStdString(read.problems.front().message));
  placeUnplaced(read.project);
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
        setSaveState(SaveState::failed, tr("%1 was changed by another program: overwrite it, reload it, or save elsewhere")
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

Outcome ProjectDocument::write(const QString& path) {
  setSaveState(SaveState::saving);
  try {
    const std::string now = text();
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

QString ProjectDocument::saveStateText() const {
  switch (m_saveState) {
    case SaveState::saved: return m_path.isEmpty() ? tr("Not saved yet") : tr("Saved");
    case SaveState::edited: return tr("Edited");
    case SaveState::saving: return tr("Saving...");
    case SaveState::recovered: return tr("Recovered %1").arg(m_recoveredAt);
    case SaveState::failed: return tr("Cannot save: %1").arg(m_saveProblem);
  }
  return {};
}

void ProjectDocument::setSaveState(SaveState state, const QString& reason) {
  m_saveState = state;
  m_saveProblem = reason;
  Q_EMIT saveStateChanged();
}

std::optional<QDateTime> ProjectDocument::recoverable() const {
  const auto found = m_recovery.find();
  if (!found || found->text == m_diskText || isModified()) return std::nullopt;
  return found->time;
}

Outcome ProjectDocument::recover() {
  const auto found = m_recovery.find();
  if (!found) return Outcome::refused(tr("There is nothing to recover"));
  ReadProject read = readProject(found->text, "recovered");
  if (!read.readable) return Outcome::refused(tr("The recovery file cannot be read"));
  placeUnplaced(read.project);
  m_recoveredAt = found->time.toString(QStringLiteral("HH:mm"));
  replace(tr("Recover %1").arg(m_recoveredAt), std::move(read.project));
  if (isModified()) setSaveState(SaveState::recovered);
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
  m_recovery.finish();  // the one is gone only when the other stands
  RecoveryFile::remove(orphan);
  return Outcome::done();
}

void ProjectDocument::discardRecovery() {
  m_autosave.stop();
  m_recovery.discard();
  if (!isModified()) return;
  const QSignalBlocker quiet(&m_stack);
  m_stack.setClean();  // closing writes no other
}

void ProjectDocument::writeRecovery() {
  m_autosave.stop();
  if (!isModified()) return;
  // Ten thousand nodes take longer to write out than a window may wait: a copy is made here, the text there.
  m_recovery.write([project = m_project] { return writeProject(project); }, [this](const QString& reason) {
    QMetaObject::invokeMethod(this, [this, reason] { setSaveState(SaveState::failed, reason); }, Qt::QueuedConnection);
  });
}

void ProjectDocument::push(const QString& text, ProjectDelta delta, const QString& mergeKey, Beside beside) {
  if (!delta.empty() || beside.redo) m_stack.push(new ProjectCommand(*this, text, std::move(delta), mergeKey, std::move(beside)));
}

void ProjectDocument::edit(const QString& text, const std::function<void(ProjectEdit&)>& change, const QString& mergeKey, Beside beside) {
  ProjectEdit edit(m_project, m_index);
  try {
    change(edit);
  } catch (...) {
    applyDelta(edit.take(), false);
    throw;
  }
  push(text, edit.take(), mergeKey, std::move(beside));
}

void ProjectDocument::editDrawing(const QString& text, const std::string& name, const std::function<void(DrawingEdit&)>& change,
                                  const QString& mergeKey) {
  edit(text, [&](ProjectEdit& edit) { edit.drawing(name, change); }, mergeKey);
}

void ProjectDocument::editDrawing(const QString& text, const std::string& name, const std::function<void(Network&)>& change,
                                  const QString& mergeKey) {
  edit(text, [&](ProjectEdit& edit) {
    edit.drawing(name, [&](DrawingEdit& drawing) {
      Network after = drawing.network();
      change(after);
      drawing.become(after);
    });
  }, mergeKey);
}

void ProjectDocument::edit(const QString& text, const std::function<void(Project&)>& change, const QString& mergeKey, Beside beside) {
  Project after = m_project;
  change(after);
  replace(text, std::move(after), mergeKey, std::move(beside));
}

void ProjectDocument::replace(const QString& text, Project project, const QString& mergeKey, Beside beside) {
  ProjectDelta delta = ProjectDelta::between(m_project, project);
  applyDelta(delta, true);
  push(text, std::move(delta), mergeKey, std::move(beside));
}

void ProjectDocument::applied(const ProjectDelta& delta, bool forward) {
  const ProjectChange change = delta.change(m_project, forward);
  ++m_revision;
  m_checks.follow(delta, forward);
  m_problems.reset();
  if (m_saveState != SaveState::edited) setSaveState(SaveState::edited);
  if (!m_autosave.isActive()) m_autosave.start();  // not restarted: someone who never pauses is saved too
  Q_EMIT changed(change);
  if (m_checks.isCurrent()) m_announce.start(0);
}

const NetworkIndex& ProjectDocument::index(std::string_view name) const {
  static const NetworkIndex none;
  for (std::size_t i = 0; i < m_project.networks.size(); ++i)
    if (m_project.networks[i].name == name) return m_index.networks[i];
  for (std::size_t i = 0; i < m_project.units.size(); ++i)
    if (m_project.units[i].name == name) return m_index.units[i];
  return none;
}

std::optional<Drawing> ProjectDocument::drawn(std::string_view name) const {
  const Network* found = network(name);
  return found == nullptr ? std::nullopt : std::optional<Drawing>(std::in_place, Drawing{m_project, *found, index(name)});
}

const Node* ProjectDocument::node(std::string_view name, std::string_view id) const {
  const Network* drawn = network(name);
  return drawn == nullptr ? nullptr : index(name).find(*drawn, id);
}

bool ProjectDocument::isBlank() const {
  return std::all_of(m_project.networks.begin(), m_project.networks.end(), [](const Network& network) { return network.nodes.empty(); });
}

const std::vector<Problem>& ProjectDocument::problems() const {
  if (m_openProblems.empty()) return m_checks.problems();
  if (!m_problems) {
    m_problems = m_checks.problems();
    std::vector<Problem> reading = m_openProblems;
    nameByLabels(reading, m_project);
    for (const Problem& problem : reading) {
      const auto same = [&](const Problem& other) { return samePlace(problem, other); };
      if (std::none_of(m_problems->begin(), m_problems->end(), same)) m_problems->push_back(problem);
    }
    std::stable_sort(m_problems->begin(), m_problems->end(), [](const Problem& a, const Problem& b) { return a.severity < b.severity; });
  }
  return *m_problems;
}

void ProjectDocument::setKnownColumns(std::vector<KnownColumns> columns) {
  m_checks.setColumns(std::move(columns));
  m_problems.reset();
  m_announce.start(0);
}

}  // namespace loom
