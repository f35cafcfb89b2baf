#include "widgets/document/unit_edits.h"

#include <algorithm>
#include <set>

#include "engine/network/flatten.h"
#include "widgets/document/network_edits.h"

namespace loom {

namespace {

std::vector<std::string> idsOf(const Network& unit, LayerRole role) {
  std::vector<std::string> ids;
  for (const Node& node : unit.nodes)
    if (roleOf(node.layer) == role) ids.push_back(node.id);
  return ids;
}

}  // namespace

bool isPortNode(const Node& node) {
  const LayerRole role = roleOf(node.layer);
  return role == LayerRole::input || role == LayerRole::output;
}
std::vector<std::string> unitInputs(const Network& unit) {
  return idsOf(unit, LayerRole::input);
}
std::vector<std::string> unitOutputs(const Network& unit) {
  return idsOf(unit, LayerRole::output);
}

std::vector<UnitUse> usesOf(const Project& project, const std::string& unit) {
  std::vector<UnitUse> uses;
  const auto look = [&](const std::vector<Network>& drawings) {
    for (const Network& drawing : drawings)
      for (const Node& node : drawing.nodes)
        if (node.unit == unit) uses.push_back({drawing.name, node.id});
  };
  look(project.networks);
  look(project.units);
  return uses;
}

bool contains(const Project& project, const std::string& unit, const std::string& inside) {
  std::set<std::string> seen{unit};
  std::vector<std::string> open{unit};
  while (!open.empty()) {
    const std::string name = open.back();
    open.pop_back();
    if (name == inside) return true;
    if (const Network* drawing = project.drawing(name))
      for (const Node& node : drawing->nodes)
        if (!node.unit.empty() && seen.insert(node.unit).second) open.push_back(node.unit);
  }
  return false;
}

Analysis analysisOfUse(const Project& project, const UnitUse& wanted) {
  const Network* around = project.drawing(wanted.drawing);
  const Node* use = around == nullptr ? nullptr : around->find(wanted.node);
  if (use == nullptr || project.unit(use->unit) == nullptr) return {};
  // What is asked for is what stands first: the use before all others.
  Project turned = project;
  for (std::vector<Network>* drawings : {&turned.networks, &turned.units}) {
    const auto first = std::find_if(drawings->begin(), drawings->end(),
                                    [&](const Network& drawing) { return drawing.name == wanted.drawing; });
    if (first != drawings->end()) std::rotate(drawings->begin(), first, first + 1);
  }
  std::vector<Node>& nodes = turned.drawing(wanted.drawing)->nodes;
  const auto at = std::find_if(nodes.begin(), nodes.end(), [&](const Node& node) { return node.id == wanted.node; });
  std::rotate(nodes.begin(), at, at + 1);
  return analyseDrawing(turned, *turned.unit(use->unit));
}

std::string nodeWith(const Problem& problem, const Project& project, const Network& drawing) {
  if (problem.network == drawing.name) return problem.node;
  if (problem.user == drawing.name) {
    // "stage1/2/...": the first part is a node or a group of the network that uses it.
    const std::string first = problem.use.substr(0, problem.use.find('/'));
    if (drawing.find(first) != nullptr) return first;
  }
  if (problem.node.empty() || project.unit(problem.network) == nullptr) return {};
  for (const Node& node : drawing.nodes)
    if (!node.unit.empty() && problem.user != drawing.name && contains(project, node.unit, problem.network))
      return node.id;
  return {};
}

Node nodeCalled(const Project& project, const std::string& name) {
  Node node;
  if (project.unit(name) != nullptr)
    node.unit = name;
  else if (const LayerDefinition* layer = findLayer(name))
    node.layer = layer->entry.id;
  return node;
}

bool isLayerName(std::string_view name) {
  const LayerDefinition* layer = findLayer(name);
  return layer != nullptr && layer->entry.id == name;
}

std::string freeDrawingName(const Project& project, const std::string& wanted) {
  std::string name = validId(wanted) ? wanted : "Unit";
  const std::string stem = name;
  // A unit's name stands where a layer's does, so it may not be one.
  for (int number = 2; project.drawing(name) != nullptr || isLayerName(name); ++number)
    name = stem + std::to_string(number);
  return name;
}

}  // namespace loom
