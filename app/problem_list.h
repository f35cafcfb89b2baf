#pragma once
// Everything that is wrong with the open project: what its document says and what pages found. Whatever counts or lists
// problems (the panel, the strip, the rail, the Train button) asks here, so that all say the same.
#include <QHash>
#include <QObject>
#include <optional>
#include <vector>

#include "app/page.h"

namespace loom {

class Workspace;

class ProblemList : public QObject {
  Q_OBJECT

 public:
  explicit ProblemList(Workspace& workspace) : m_workspace(workspace) {}

  // Replaces what this page last reported.
  void setOfPage(const QString& page, std::vector<PageProblem> problems);
  void forgetPages();  // their project is gone
  // Of files that the next run would ask for in vain, told before it starts. Where the Data page has looked at a file,
  // it says more.
  void setOfFiles(std::vector<PageProblem> problems);

  std::vector<PageProblem> all() const;  // errors first
  int errors() const;
  // Whether an error is of the drawing, the data or the settings: a chart that could not be written stands in no run's
  // way.
  bool hinderTraining() const;

 Q_SIGNALS:
  void changed();  // of a page; the document tells by itself

 private:
  PageProblem fromDocument(const Problem& problem) const;
  // Of the ranks that the chosen host gives.
  std::optional<PageProblem> ofHostRanks() const;

  Workspace& m_workspace;
  QHash<QString, std::vector<PageProblem>> m_ofPages;
  std::vector<PageProblem> m_ofFiles;
};

}  // namespace loom
