#include "app/problem_list.h"

#include <algorithm>

#include "app/workspace.h"
#include "engine/network/project_settings.h"

namespace loom {
namespace {

bool isError(const PageProblem& problem) {
  return problem.severity == Severity::error;
}

// What the settings alone do not forbid, and the ranks of the host do.
std::optional<ReductionRefusal> refusedThere(const Project& project, int ranks) {
  try {
    const Json& settings = project.training.settings;
    return refusedReduction(settings, 1) ? std::nullopt : refusedReduction(settings, ranks);
  } catch (const Error&) {
    return std::nullopt;  // the document says what is wrong with the values
  }
}

}  // namespace

void ProblemList::setOfPage(const QString& page, std::vector<PageProblem> problems) {
  m_ofPages[page] = std::move(problems);
  Q_EMIT changed();
}

void ProblemList::setOfFiles(std::vector<PageProblem> problems) {
  m_ofFiles = std::move(problems);
  Q_EMIT changed();
}

void ProblemList::forgetPages() {
  m_ofPages.clear();
  m_ofFiles.clear();
}

std::vector<PageProblem> ProblemList::all() const {
  std::vector<PageProblem> all;
  if (const ProjectDocument* const document = m_workspace.document())
    for (const Problem& each : document->problems()) {
      const bool emptyDrawing = document->isBlank() && !each.network.empty() && each.field.empty();
      if (!emptyDrawing) all.push_back(fromDocument(each));  // an empty canvas says by itself what to do first
    }
  if (auto ofRanks = ofHostRanks()) all.push_back(std::move(*ofRanks));
  for (const auto& each : m_ofPages) all.insert(all.end(), each.begin(), each.end());
  const std::vector<PageProblem> ofData = m_ofPages.value("data");
  for (const PageProblem& each : m_ofFiles)
    if (std::none_of(ofData.begin(), ofData.end(), [&](const PageProblem& other) {
          return other.place.dataset == each.place.dataset && isError(other);
        }))
      all.push_back(each);
  std::stable_sort(all.begin(), all.end(),
                   [](const PageProblem& a, const PageProblem& b) { return a.severity < b.severity; });
  return all;
}

int ProblemList::errors() const {
  const std::vector<PageProblem> problems = all();
  return static_cast<int>(std::count_if(problems.begin(), problems.end(), isError));
}

bool ProblemList::hinderTraining() const {
  const std::vector<PageProblem> problems = all();
  return std::any_of(problems.begin(), problems.end(), [](const PageProblem& each) {
    return isError(each) &&
           (each.place.page == "network" || each.place.page == "data" || each.place.page == "settings");
  });
}

std::optional<PageProblem> ProblemList::ofHostRanks() const {
  ProjectDocument* const document = m_workspace.document();
  const int ranks = m_workspace.ranks();
  if (!document || document->isBlank() || ranks == 1) return std::nullopt;
  const auto refusal = refusedThere(document->project(), ranks);
  if (!refusal) return std::nullopt;
  PageProblem problem;
  problem.place.page = "settings";
  problem.place.field = "training." + QString::fromStdString(refusal->setting);
  problem.placeText = m_workspace.hostName(m_workspace.host());
  problem.message = QString::fromStdString(refusal->sentence());
  const std::string value = refusal->value.is_string() ? refusal->value.get<std::string>() : refusal->value.dump();
  problem.remedyText = tr("Set it to %1").arg(QString::fromStdString(value));
  problem.remedy = [&workspace = m_workspace, setting = refusal->setting, value = refusal->value] {
    if (workspace.document()) workspace.document()->setSetting(setting, value);
  };
  return problem;
}

PageProblem ProblemList::fromDocument(const Problem& problem) const {
  PageProblem shown;
  shown.severity = problem.severity;
  shown.message = QString::fromStdString(problem.message);
  const QString network = QString::fromStdString(problem.network), node = QString::fromStdString(problem.node);
  const QString field = QString::fromStdString(problem.field);
  shown.place.network = network;
  shown.place.node = node;
  shown.place.field = field;
  if (!node.isEmpty() || problem.edge) {
    shown.place.page = "network";
    shown.placeText = network == "main" ? node : network + " / " + node;
  } else if (field.startsWith("datasets")) {
    shown.place.page = "data";
    shown.place.dataset = field.section('.', 1, 1);
    shown.placeText = shown.place.dataset.isEmpty() ? tr("data") : tr("dataset %1").arg(shown.place.dataset);
  } else if (field.startsWith("training")) {
    shown.place.page = "settings";
    shown.placeText = tr("settings");
  } else {
    shown.place.page = "network";
    shown.placeText = network;
  }
  if (problem.remedy.kind != Remedy::Kind::none) {
    shown.remedyText = QString::fromStdString(problem.remedy.label);
    shown.remedy = [problem, &workspace = m_workspace] {
      if (workspace.document()) workspace.document()->applyRemedy(problem);
    };
  }
  return shown;
}

}  // namespace loom
