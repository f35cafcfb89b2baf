#include "engine/network/class_losses.h"

#include <algorithm>

namespace loom {
namespace {

const LayerDefinition* weighable(const Node& node) {
  const LayerDefinition* const layer = node.unit.empty() ? findLayer(node.layer) : nullptr;
  return layer && layer->entry.field(kClassWeights) ? layer : nullptr;
}

bool hasOne(const std::vector<Network>& drawings) {
  return std::any_of(drawings.begin(), drawings.end(), [](const Network& each) {
    return std::any_of(each.nodes.begin(), each.nodes.end(), [](const Node& node) { return weighable(node); });
  });
}

}  // namespace

std::vector<ClassLoss> classLosses(const Network& drawn, const Network& flat) {
  std::vector<ClassLoss> losses;
  const Analysis analysis = analyse(flat);
  const std::vector<DatasetInput> inputs = datasetInputs(flat);
  for (const Node& node : drawn.nodes) {
    const LayerDefinition* const layer = weighable(node);
    const auto facts = analysis.nodes.find(node.id);
    if (!layer || facts == analysis.nodes.end() || facts->second.inputs.size() != 2) continue;
    for (const Edge& edge : flat.edges) {
      if (edge.to != Endpoint{node.id, "target"}) continue;
      const auto input = std::find_if(inputs.begin(), inputs.end(),
                                      [&](const DatasetInput& each) { return each.node == edge.from.node; });
      if (input == inputs.end()) continue;
      const bool labels = layer->entry.inputs[1].type == PortType::labels;
      if (labels || input->shape.elements() == 1)
        losses.push_back({node.id, input->variable, labels ? facts->second.inputs[0][-1] : 2});
    }
  }
  return losses;
}

bool hasClassLoss(const Project& project) {
  return hasOne(project.networks) || hasOne(project.units);
}

}  // namespace loom
