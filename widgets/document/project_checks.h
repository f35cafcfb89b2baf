#pragma once
// Shapes and problems of the project that is open. A small one is looked at when it is asked for, by what changed. A
// large one is looked at beside the window's thread, on a copy that follows the edits: what is answered then is of the
// revision that was finished last, and answered() tells of a newer one. So a keystroke never waits, and what is shown
// changes only when there is something better to show.
#include <QObject>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/network/incremental_analysis.h"
#include "widgets/document/newest_task.h"
#include "widgets/document/project_delta.h"

namespace loom {

class ProjectChecks : public QObject {
  Q_OBJECT
 public:
  explicit ProjectChecks(QObject* parent = nullptr);
  ~ProjectChecks() override;

  void begin(const Project& project);  // another one; referred to, and asked again after each change
  void follow(std::shared_ptr<const ProjectDelta> delta, bool forward);  // the project changed so
  void setColumns(std::vector<KnownColumns> columns);
  const std::vector<KnownColumns>& columns() const { return m_columns; }

  // Of a drawing; an empty one where none is known yet or there is no such drawing.
  const Analysis& analysis(const std::string& drawing) const;
  // Of the unit that a node uses, as this use sees it; an empty one where none is known yet. Of a large project it is
  // looked at only while somebody watches it, once for each watch() that no unwatch() has ended.
  using Use = std::pair<std::string, std::string>;  // drawing, node
  const Analysis& analysisOfUse(const Use& use) const;
  void watch(const Use& use);
  void unwatch(const Use& use);
  const std::vector<Problem>& problems() const;  // of the whole project, errors first
  // Whether both are of the project as it is.
  bool isCurrent() const { return !m_beside || m_answered == m_revision; }

 Q_SIGNALS:
  void answered();  // beside the window: of a newer revision than before

 private:
  struct Answer {
    std::map<std::string, Analysis> drawings;
    std::map<Use, Analysis> uses;
    std::vector<Problem> problems;
  };
  struct Analyst;  // what works beside the window, and its copy of the project
  static bool isLarge(const Project& project);
  void ask();

  const Project* m_project = nullptr;
  std::vector<KnownColumns> m_columns;
  std::multiset<Use> m_watched;
  std::uint64_t m_revision = 0, m_answered = 0;
  bool m_beside = false;
  std::shared_ptr<Analyst> m_analyst;
  std::shared_ptr<const Answer> m_answer;  // where it is worked on beside the window
  NewestTask m_task;
  // Where it is done at once.
  mutable std::map<std::string, IncrementalAnalysis> m_memory;
  mutable AnalysisMemory m_checkMemory;
  mutable std::map<std::string, Analysis> m_analyses;
  mutable std::map<Use, Analysis> m_uses;
  mutable std::unique_ptr<std::vector<Problem>> m_problems;
};

}  // namespace loom
