#include "widgets/document/project_document.h"

#include <QDir>
#include <QFileInfo>
#include <algorithm>

#include "widgets/document/project_command.h"
#include "widgets/document/project_paths.h"
#include "widgets/document/setting_fields.h"
#include "widgets/document/texts.h"
#include "widgets/document/wired_target.h"

namespace loom {

namespace {

constexpr int kAutosaveMilliseconds = 500;
constexpr int kUndoLimit = 2000;
constexpr int kLookMilliseconds = 150;  // after a file changed: who writes it may not be done

bool samePlace(const Problem& a, const Problem& b) {
  return a.network == b.network && a.node == b.node && a.field == b.field && a.message == b.message;
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

QString ProjectDocument::folder() const {
  return m_path.isEmpty() ? QDir::currentPath() : QFileInfo(m_path).absolutePath();
}

std::string ProjectDocument::text() const {
  return m_path.isEmpty() ? writeProject(m_project) : projectText(m_project, folder(), m_diskText, folder());
}

QString ProjectDocument::saveStateText() const {
  switch (m_saveState) {
    case SaveState::saved:
      return m_path.isEmpty() ? tr("Not saved yet") : tr("Saved");
    case SaveState::edited:
      return tr("Edited");
    case SaveState::saving:
      return tr("Saving...");
    case SaveState::recovered:
      return tr("Recovered %1").arg(m_recoveredAt);
    case SaveState::failed:
      return tr("Cannot save");
  }
  return {};
}

void ProjectDocument::setSaveState(SaveState state, const QString& reason) {
  m_saveState = state;
  m_saveProblem = reason;
  Q_EMIT saveStateChanged();
}

void ProjectDocument::push(const QString& text, ProjectDelta delta, const QString& mergeKey, Beside beside) {
  if (!delta.empty() || beside.redo)
    m_stack.push(new ProjectCommand(*this, text, std::move(delta), mergeKey, std::move(beside)));
}

void ProjectDocument::edit(const QString& text, const std::function<void(ProjectEdit&)>& change,
                           const QString& mergeKey, Beside beside) {
  ProjectEdit edit(m_project, m_index);
  try {
    change(edit);
  } catch (...) {
    applyDelta(edit.take(), false);
    throw;
  }
  ProjectDelta delta = edit.take();
  followTarget(m_project, m_index, m_checks.columns(), delta);
  push(text, std::move(delta), mergeKey, std::move(beside));
}

void ProjectDocument::editDrawing(const QString& text, const std::string& name,
                                  const std::function<void(DrawingEdit&)>& change, const QString& mergeKey) {
  edit(
      text, [&](ProjectEdit& edit) { edit.drawing(name, change); }, mergeKey);
}

void ProjectDocument::edit(const QString& text, const std::function<void(Project&)>& change, const QString& mergeKey,
                           Beside beside) {
  Project after = m_project;
  change(after);
  replace(text, std::move(after), mergeKey, std::move(beside));
}

void ProjectDocument::replace(const QString& text, Project project, const QString& mergeKey, Beside beside) {
  ProjectDelta delta = ProjectDelta::between(m_project, project);
  applyDelta(delta, true);
  push(text, std::move(delta), mergeKey, std::move(beside));
}

void ProjectDocument::applied(const std::shared_ptr<const ProjectDelta>& delta, bool forward) {
  const ProjectChange change = delta->change(m_project, forward);
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
  return found == nullptr ? std::nullopt
                          : std::optional<Drawing>(std::in_place, Drawing{m_project, *found, index(name)});
}

const Node* ProjectDocument::node(std::string_view name, std::string_view id) const {
  const Network* drawn = network(name);
  return drawn == nullptr ? nullptr : index(name).find(*drawn, id);
}

bool ProjectDocument::isBlank() const {
  return std::all_of(m_project.networks.begin(), m_project.networks.end(),
                     [](const Network& network) { return network.nodes.empty(); });
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
    std::stable_sort(m_problems->begin(), m_problems->end(),
                     [](const Problem& a, const Problem& b) { return a.severity < b.severity; });
  }
  return *m_problems;
}

void ProjectDocument::setKnownColumns(std::vector<KnownColumns> columns) {
  m_checks.setColumns(std::move(columns));
  m_problems.reset();
  m_announce.start(0);
}

}  // namespace loom
