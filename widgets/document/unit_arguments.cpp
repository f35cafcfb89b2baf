// Names in units, and who follows them: the unit's own, its arguments', its ports'.
#include <algorithm>

#include "widgets/document/expression_names.h"
#include "widgets/document/unit_edits.h"

namespace loom {

void renameUnit(Project& project, const std::string& from, const std::string& to) {
  if (Network* unit = project.drawing(from)) unit->name = to;
  for (std::vector<Network>* drawings : {&project.networks, &project.units})
    for (Network& drawing : *drawings)
      for (Node& node : drawing.nodes)
        if (node.unit == from) node.unit = to;
}

namespace {

template <class Change>
void forUses(Project& project, const std::string& unit, const Change& change) {
  for (std::vector<Network>* drawings : {&project.networks, &project.units})
    for (Network& drawing : *drawings)
      for (Node& node : drawing.nodes)
        if (node.unit == unit) change(drawing, node);
}

}  // namespace

void renameArgument(Project& project, const std::string& name, const std::string& from, const std::string& to) {
  Network* unit = project.drawing(name);
  if (unit == nullptr) return;
  for (Argument& argument : unit->arguments)
    if (argument.name == from) argument.name = to;
  for (Node& node : unit->nodes) {
    renameIn(node.values, from, to);
    renameIn(node.repeat, from, to);
  }
  for (Group& group : unit->groups) renameIn(group.repeat, from, to);
  forUses(project, name, [&](Network&, Node& use) {
    const auto given = use.values.find(from);
    if (given == use.values.end()) return;
    const Json value = *given;
    use.values.erase(from);
    use.values[to] = value;
  });
}

void removeArgument(Project& project, const std::string& name, const std::string& argument) {
  Network* unit = project.drawing(name);
  if (unit == nullptr) return;
  Json given = Json::object();
  for (const Argument& each : unit->arguments)
    if (each.name == argument) given[argument] = each.defaultValue;
  std::erase_if(unit->arguments, [&](const Argument& each) { return each.name == argument; });
  for (Node& node : unit->nodes) {
    substituteIn(node.values, given);
    substituteIn(node.repeat, given);
  }
  for (Group& group : unit->groups) substituteIn(group.repeat, given);
  forUses(project, name, [&](Network&, Node& use) { use.values.erase(argument); });
}

void renamePort(ProjectEdit& edit, const std::string& unit, const std::string& from, const std::string& to) {
  edit.everyDrawing([&](DrawingEdit& drawing) {
    for (std::size_t i = 0; i < drawing.network().nodes.size(); ++i) {
      if (drawing.network().nodes[i].unit != unit) continue;
      const auto place = static_cast<NetworkIndex::Position>(i);
      for (const bool into : {true, false}) {
        const auto links = into ? drawing.index().into(place) : drawing.index().outOf(place);
        for (const auto wire : std::vector<NetworkIndex::Position>(links.begin(), links.end())) {
          Edge edge = drawing.network().edges[wire];
          std::string& port = into ? edge.to.port : edge.from.port;
          if (port != from) continue;
          port = to;
          drawing.changeWire(wire, edge);
        }
      }
    }
  });
}

}  // namespace loom
