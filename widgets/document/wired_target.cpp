#include "widgets/document/wired_target.h"

#include <algorithm>
#include <set>

#include "engine/base/error.h"
#include "engine/data/columns/target_meaning.h"
#include "widgets/document/project_edit.h"

namespace loom {
namespace {

constexpr const char* kTarget = "target";

std::string targetOf(const DatasetSpec& dataset) {
  const auto found = dataset.extra.is_object() ? dataset.extra.find(kTarget) : dataset.extra.end();
  if (found == dataset.extra.end() || !found->is_string()) return {};
  try {
    return variableOf(dataset.prepare, *found);
  } catch (const Error&) {
    return {};  // a step that cannot be done is told where it stands
  }
}

// The only Input that losses of the network compare with.
const Node* comparedInput(const Network& network) {
  std::set<std::string> inputs;
  for (const Edge& edge : network.edges)
    if (edge.to.port == kTarget) inputs.insert(edge.from.node);
  const Node* const only = inputs.size() == 1 ? network.find(*inputs.begin()) : nullptr;
  return only && only->layer == "Input" ? only : nullptr;
}

bool isColumn(const std::vector<KnownColumns>& columns, const std::string& dataset, const std::string& name) {
  return std::any_of(columns.begin(), columns.end(),
                     [&](const KnownColumns& each) { return each.dataset == dataset && each.shapes.contains(name); });
}

}  // namespace

void followTarget(Project& project, ProjectIndex& index, const std::vector<KnownColumns>& columns,
                  ProjectDelta& delta) {
  for (const UpdateSpec& update : std::vector<UpdateSpec>(project.training.updates)) {
    const DatasetSpec* const dataset = project.dataset(update.dataset);
    const std::string variable = dataset ? targetOf(*dataset) : std::string();
    const Network* const network = variable.empty() ? nullptr : project.network(update.network);
    const Node* const input = network ? comparedInput(*network) : nullptr;
    if (!input || input->id == variable || input->values.contains("variable") || input->values.contains("source") ||
        isColumn(columns, dataset->name, input->id))
      continue;
    const std::vector<NetworkChange> changes = delta.change(project, true).networks;
    const bool wiredNow = std::any_of(changes.begin(), changes.end(), [&](const NetworkChange& change) {
      return change.network == update.network &&
             std::any_of(change.wired.begin(), change.wired.end(),
                         [&](const Edge& edge) { return edge.to.port == kTarget && edge.from.node == input->id; });
    });
    if (!wiredNow) continue;
    ProjectEdit edit(project, index);
    edit.drawing(update.network, [&, id = input->id](DrawingEdit& drawing) {
      drawing.change(id, [&](Node& node) { node.values["variable"] = variable; });
    });
    delta.append(edit.take());
  }
}

}  // namespace loom
