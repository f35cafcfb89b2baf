#include "widgets/library/own_layer_edits.h"

#include <algorithm>
#include <map>

#include "widgets/document/network_edits.h"
#include "widgets/document/unit_edits.h"

namespace loom {

namespace {

void followNames(Network& unit, const std::map<std::string, std::string>& names) {
  for (Node& node : unit.nodes)
    if (const auto found = names.find(node.unit); found != names.end()) node.unit = found->second;
}

// The units that the layer's one uses, those inside first, under names that the project has room for; answers them by
// their own.
std::map<std::string, std::string> bringInner(Project& project, const OwnLayer& layer) {
  std::map<std::string, std::string> names;
  std::vector<std::string> came;
  const std::vector<Network>& units = layer.definition.units;  // the layer's own is the first
  for (auto unit = units.rbegin(); unit != units.rend() && unit->name != layer.name; ++unit) {
    if (project.unit(unit->name) != nullptr &&
        definitionText(project, unit->name) == definitionText(layer.definition, unit->name)) {
      names[unit->name] = unit->name;
      continue;
    }
    names[unit->name] = freeDrawingName(project, unit->name);
    project.units.push_back(*unit);
    project.units.back().name = names[unit->name];
    came.push_back(names[unit->name]);
  }
  for (const std::string& name : came) followNames(*project.unit(name), names);
  return names;
}

bool comesFrom(const Network& unit, const OwnLayer& layer) {
  return unit.words.origin.empty() ? unit.name == layer.name : unit.words.origin == layer.name;
}

}  // namespace

std::string bringOwnLayer(Project& project, const OwnLayer& layer) {
  const std::string wanted = definitionText(layer.definition, layer.name);
  for (const Network& unit : project.units)
    if (comesFrom(unit, layer) && definitionText(project, unit.name) == wanted) return unit.name;
  const std::map<std::string, std::string> names = bringInner(project, layer);
  Network unit = *layer.unit();
  followNames(unit, names);
  unit.words.origin = layer.name;
  unit.name = freeDrawingName(project, layer.name);
  project.units.push_back(std::move(unit));
  return project.units.back().name;
}

bool isPresent(const Project& project, const OwnLayer& layer) {
  return std::any_of(project.units.begin(), project.units.end(),
                     [&](const Network& unit) { return comesFrom(unit, layer); });
}

bool isOutdated(const Project& project, const Network& unit, const OwnLayer& layer) {
  return comesFrom(unit, layer) && definitionText(project, unit.name) != definitionText(layer.definition, layer.name);
}

Updated updateFromLibrary(Project& project, const std::string& name, const OwnLayer& layer) {
  Updated went;
  if (project.unit(name) == nullptr) return went;
  const std::map<std::string, std::string> names = bringInner(project, layer);
  Network unit = *layer.unit();
  followNames(unit, names);
  unit.words.origin = layer.name;
  unit.name = name;
  *project.unit(name) = unit;
  const std::vector<std::string> inputs = unitInputs(unit), outputs = unitOutputs(unit);
  const auto has = [](const std::vector<std::string>& ports, const std::string& port) {
    return std::find(ports.begin(), ports.end(), port) != ports.end();
  };
  for (std::vector<Network>* drawings : {&project.networks, &project.units})
    for (Network& drawing : *drawings) {
      std::map<std::string, bool> uses;
      for (Node& node : drawing.nodes) {
        if (node.unit != name) continue;
        uses[node.id] = true;
        std::vector<std::string> unknown;
        for (const auto& [key, value] : node.values.items())
          if (unit.argument(key) == nullptr) unknown.push_back(key);
        for (const std::string& key : unknown) node.values.erase(key);
        went.values += static_cast<int>(unknown.size());
      }
      went.wires += static_cast<int>(std::erase_if(drawing.edges, [&](const Edge& edge) {
        return (uses.contains(edge.to.node) && !has(inputs, edge.to.port)) ||
               (uses.contains(edge.from.node) && !has(outputs, edge.from.port));
      }));
    }
  return went;
}

}  // namespace loom
