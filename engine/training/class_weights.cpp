#include "engine/training/class_weights.h"

#include "engine/base/error.h"
#include "engine/data/balance.h"
#include "engine/network/class_losses.h"
#include "engine/network/flatten.h"
#include "engine/training/run_description.h"

namespace loom {
ClassWeights measureClassWeights(const Project& project, const std::string& network, const Dataset& dataset) {
  ClassWeights weights;
  if (const Network* const drawn = project.network(network))
    for (const ClassLoss& loss : classLosses(*drawn, flatNetwork(project, network)))
      if (!weights.contains(loss.variable))
        if (std::vector<double> own = classWeights(dataset, loss.variable); !own.empty())
          weights[loss.variable] = std::move(own);
  return weights;
}

int weighLosses(Project& project, const std::string& network, const ClassWeights& weights) {
  Network* const drawn = project.network(network);
  if (!drawn) return 0;
  int weighed = 0;
  for (const ClassLoss& loss : classLosses(*drawn, flatNetwork(project, network))) {
    Json& values = drawn->find(loss.node)->values;
    if (values.contains(kClassWeights)) {
      ++weighed;
      continue;
    }
    const auto found = weights.find(loss.variable);
    if (found == weights.end()) continue;
    std::vector<double> each = found->second;
    if (static_cast<std::int64_t>(each.size()) > loss.classes)
      throwError(ErrorCode::badProject, "in layer '{}': '{}' has {} classes, but there are {} scores", loss.node,
                 loss.variable, each.size(), loss.classes);
    each.resize(static_cast<std::size_t>(loss.classes), 1.0);
    values[kClassWeights] = each;
    ++weighed;
  }
  return weighed;
}

Project asTrained(const RunDescription& run) {
  Project project = run.project;
  for (const UpdateSpec& update : run.project.training.updates) {
    const auto facts = run.facts.find(update.dataset);
    if (facts == run.facts.end() || !facts->contains("class_weights")) continue;
    ClassWeights weights;
    try {
      weights = facts->at("class_weights").get<ClassWeights>();
    } catch (const Json::exception& fault) {
      throwError(ErrorCode::badData, "run.json is damaged: its weights of classes are of another type ({})",
                 fault.what());
    }
    weighLosses(project, update.network, weights);
    const std::string& validated = run.project.training.validationNetwork;
    if (validated != update.network) weighLosses(project, validated, weights);
  }
  return project;
}

}  // namespace loom
