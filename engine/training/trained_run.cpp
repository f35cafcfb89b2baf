#include "engine/training/trained_run.h"

#include "engine/base/error.h"
#include "engine/data/raw_rows.h"
#include "engine/exchange/weight_match.h"

namespace loom {

Which whichWeights(std::string_view word) {
  if (word == "best") return Which::best;
  if (word == "last") return Which::last;
  throwError(ErrorCode::badArgument, "the weights '{}' of a run are not known: name best or last", word);
}

TrainedRun::TrainedRun(RunFolder run, Which which) : m_run(std::move(run)), m_which(which) {
  std::vector<RefusedCheckpoint> refused;
  auto path = findCheckpoint(m_run, which, &refused);
  if (!path && which != Which::last) {
    m_which = Which::last;
    path = findCheckpoint(m_run, Which::last, &refused);
  }
  if (!path) {
    description();  // throws where it is no run at all
    throwError(ErrorCode::missingFile, "the run {} has no checkpoint to load{}", m_run.path.string(),
               refused.empty() ? std::string("; train it first") : ": " + refused.front().reason);
  }
  m_path = std::move(*path);
}

const RunDescription& TrainedRun::description() const {
  if (!m_description) m_description = readRunDescription(m_run);
  return *m_description;
}

std::string TrainedRun::networkName() const {
  const Project& project = description().project;
  const TrainingSpec& training = project.training;
  const std::string name = !training.validationNetwork.empty() ? training.validationNetwork
                           : training.updates.empty()          ? std::string()
                                                               : training.updates.front().network;
  if (!project.network(name)) throwError(ErrorCode::badProject, "the run's project has no network '{}'", name);
  return name;
}

std::int64_t TrainedRun::restore(ParameterStore& store) const {
  const Checkpoint checkpoint(m_path);
  checkpoint.restore(store);
  return checkpoint.step();
}

std::map<std::string, ExportedWeight> TrainedRun::weights() const {
  const TensorFile file(m_path);
  std::map<std::string, ExportedWeight> weights;
  for (const TensorFile::Tensor& tensor : file.tensors())
    if (isWeightName(tensor.name)) weights[tensor.name] = {tensor.shape, {tensor.values.begin(), tensor.values.end()}};
  return weights;
}

std::vector<std::string> classNames(const RunDescription& run, const std::string& variable) {
  if (run.project.training.updates.empty()) return {};
  const std::string dataset = run.project.training.updates.front().dataset;
  const auto facts = run.facts.find(dataset);
  if (facts == run.facts.end()) return {};
  if (const auto kept = facts->find("classes"); kept != facts->end() && kept->contains(variable))
    return kept->at(variable).get<std::vector<std::string>>();
  return classWords(facts->value("csv", std::string()), variable);
}

}  // namespace loom
