#include "widgets/document/project_checks.h"

#include <mutex>
#include <optional>
#include <utility>

#include "engine/network/flatten.h"
#include "widgets/document/background.h"
#include "widgets/document/setting_fields.h"
#include "widgets/document/unit_edits.h"

namespace loom {

namespace {

constexpr std::size_t kAtOnce = 1200;  // nodes: some milliseconds at worst

std::size_t drawnNodes(const Project& project) {
  std::size_t count = 0;
  for (const auto* drawings : {&project.networks, &project.units})
    for (const Network& drawing : *drawings) count += drawing.nodes.size();
  return count;
}

Analysis look(const Project& project, const Network& drawing, std::map<std::string, IncrementalAnalysis>& memory) {
  Analysis found = analyseDrawing(project, drawing, memory[drawing.name]);
  nameByLabels(found.problems, project);
  return found;
}

Analysis lookAtUse(const Project& project, const ProjectChecks::Use& use) {
  Analysis found = analysisOfUse(project, {use.first, use.second});
  nameByLabels(found.problems, project);
  return found;
}

}  // namespace

struct ProjectChecks::Analyst {
  // Between the threads.
  std::mutex mutex;
  std::vector<std::pair<std::shared_ptr<const ProjectDelta>, bool>> coming;
  std::optional<Project> anew;
  std::vector<KnownColumns> columns;
  std::multiset<Use> watched;
  // The worker's own.
  Project project;
  ProjectIndex index;
  std::map<std::string, IncrementalAnalysis> memory;
  AnalysisMemory checkMemory;

  std::shared_ptr<const Answer> answer(const std::atomic<bool>& outdated) {
    std::vector<KnownColumns> known;
    std::multiset<Use> uses;
    std::optional<Project> fresh;
    std::vector<std::pair<std::shared_ptr<const ProjectDelta>, bool>> steps;
    {
      const std::lock_guard lock(mutex);  // the window may wait for it: nothing is worked out meanwhile
      fresh.swap(anew);
      steps.swap(coming);
      known = columns;
      uses = watched;
    }
    if (fresh) {
      project = std::move(*fresh);
      index = ProjectIndex(project);
      memory.clear();
      checkMemory = {};
    }
    for (const auto& [delta, forward] : steps) delta->apply(project, index, forward);
    auto found = std::make_shared<Answer>();
    for (const auto* drawings : {&project.networks, &project.units})
      for (const Network& drawing : *drawings) {
        if (outdated) return nullptr;
        found->drawings[drawing.name] = look(project, drawing, memory);
      }
    for (auto use = uses.begin(); use != uses.end(); use = uses.upper_bound(*use)) {
      if (outdated) return nullptr;
      found->uses[*use] = lookAtUse(project, *use);
    }
    if (outdated) return nullptr;
    found->problems = checkProject(project, known, &checkMemory);
    nameByLabels(found->problems, project);
    return found;
  }
};

ProjectChecks::ProjectChecks(QObject* parent) : QObject(parent) {}
ProjectChecks::~ProjectChecks() = default;

bool ProjectChecks::isLarge(const Project& project) {
  return drawnNodes(project) > kAtOnce;
}

void ProjectChecks::begin(const Project& project) {
  m_project = &project;
  m_columns.clear();
  m_watched.clear();
  ++m_revision;
  m_memory.clear();
  m_checkMemory = {};
  m_analyses.clear();
  m_uses.clear();
  m_problems.reset();
  m_answer.reset();
  m_analyst.reset();
  m_task.forget();
  m_beside = isLarge(project);
  if (!m_beside) return;
  m_analyst = std::make_shared<Analyst>();
  m_analyst->anew = project;
  ask();
}

void ProjectChecks::follow(std::shared_ptr<const ProjectDelta> delta, bool forward) {
  ++m_revision;
  if (!m_beside && !isLarge(*m_project)) {
    m_analyses.clear();
    m_uses.clear();
    m_problems.reset();
    return;
  }
  if (!m_beside) {
    // It has grown: what was found at once is shown until there is better.
    m_beside = true;
    auto shown = std::make_shared<Answer>();
    shown->drawings = std::move(m_analyses);
    shown->uses = std::move(m_uses);
    if (m_problems) shown->problems = std::move(*m_problems);
    m_answer = std::move(shown);
    m_analyst = std::make_shared<Analyst>();
    m_analyst->anew = *m_project;
  } else {
    const std::lock_guard lock(m_analyst->mutex);
    m_analyst->coming.emplace_back(std::move(delta), forward);
  }
  ask();
}

void ProjectChecks::setColumns(std::vector<KnownColumns> columns) {
  m_columns = std::move(columns);
  m_problems.reset();
  if (m_beside) ask();
}

void ProjectChecks::ask() {
  {
    const std::lock_guard lock(m_analyst->mutex);
    m_analyst->columns = m_columns;
    m_analyst->watched = m_watched;
  }
  m_task.ask(
      [this, analyst = m_analyst, revision = m_revision](const std::atomic<bool>& outdated) -> NewestTask::Answer {
        auto found = analyst->answer(outdated);
        if (!found) return {};
        return [this, revision, found = std::move(found)] {
          // The old one is large: it goes beside the window, too.
          besideTheWindow([old = std::exchange(m_answer, found)] {});
          m_answered = revision;
          Q_EMIT answered();
        };
      });
}

const Analysis& ProjectChecks::analysis(const std::string& name) const {
  static const Analysis none;
  if (m_beside) {
    if (!m_answer) return none;
    const auto found = m_answer->drawings.find(name);
    return found == m_answer->drawings.end() ? none : found->second;
  }
  if (const auto found = m_analyses.find(name); found != m_analyses.end()) return found->second;
  const Network* drawing = m_project == nullptr ? nullptr : m_project->drawing(name);
  if (drawing == nullptr) return none;
  return m_analyses[name] = look(*m_project, *drawing, m_memory);
}

void ProjectChecks::watch(const Use& use) {
  const bool known = m_watched.contains(use);
  m_watched.insert(use);
  if (m_beside && !known) ask();
}

void ProjectChecks::unwatch(const Use& use) {
  if (const auto found = m_watched.find(use); found != m_watched.end()) m_watched.erase(found);
}

const Analysis& ProjectChecks::analysisOfUse(const Use& use) const {
  static const Analysis none;
  if (m_beside) {
    if (!m_answer) return none;
    const auto found = m_answer->uses.find(use);
    return found == m_answer->uses.end() ? none : found->second;
  }
  if (const auto found = m_uses.find(use); found != m_uses.end()) return found->second;
  return m_project == nullptr ? none : m_uses[use] = lookAtUse(*m_project, use);
}

const std::vector<Problem>& ProjectChecks::problems() const {
  static const std::vector<Problem> none;
  if (m_beside) return m_answer ? m_answer->problems : none;
  if (!m_problems) {
    m_problems = std::make_unique<std::vector<Problem>>(checkProject(*m_project, m_columns, &m_checkMemory));
    nameByLabels(*m_problems, *m_project);
  }
  return *m_problems;
}

}  // namespace loom
