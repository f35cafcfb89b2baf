// The part of unit_edits.h that makes a unit of a selection and puts one back into the place of its use.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "widgets/document/card_geometry.h"
#include "widgets/document/expression_names.h"
#include "widgets/document/group_edits.h"
#include "widgets/document/network_edits.h"
#include "widgets/document/unit_edits.h"

namespace loom {

namespace {

constexpr char kInput[] = "Input", kOutput[] = "Output";

std::string inputOf(const char* layer) {
  return findLayer(layer)->entry.inputs.front().key;
}
std::string outputOf(const char* layer) {
  return findLayer(layer)->entry.outputs.front().key;
}

std::set<std::string> withoutPorts(const Network& drawing, const std::vector<std::string>& ids) {
  std::set<std::string> kept;
  for (const std::string& id : ids)
    if (const Node* node = drawing.find(id); node != nullptr && !isPortNode(*node)) kept.insert(id);
  return kept;
}

std::string freeAmong(std::set<std::string>& taken, const std::string& wanted) {
  std::string id = wanted;
  for (int number = 2; !taken.insert(id).second; ++number) id = wanted + std::to_string(number);
  return id;
}

// What crosses the edge of a selection: which sources come in, which go out, each once, in the order of the wires.
struct Crossing {
  std::vector<Endpoint> in, out;
  std::vector<Endpoint> open;  // inputs inside that wait for a wire, and outputs that nobody reads yet: ports too
  std::vector<Endpoint> unread;
};

template <class T>
void once(std::vector<T>& all, const T& one) {
  if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
}

Crossing crossing(const Project& project, const Network& drawing, const std::set<std::string>& inside) {
  Crossing found;
  std::set<Endpoint> wired, read;
  for (const Edge& edge : drawing.edges) {
    const bool from = inside.contains(edge.from.node), to = inside.contains(edge.to.node);
    if (to) wired.insert(edge.to);
    if (from) read.insert(edge.from);
    if (to && !from) once(found.in, edge.from);
    if (from && !to) once(found.out, edge.from);
  }
  for (const Node& node : drawing.nodes) {
    if (!inside.contains(node.id)) continue;
    for (const Port& port : portsOf(project, node).inputs)
      if (!port.optional && !wired.contains({node.id, port.key})) found.open.push_back({node.id, port.key});
    const LayerDefinition* layer = findLayer(node.layer);
    if (layer != nullptr && isTerminal(*layer)) continue;
    for (const Port& port : portsOf(project, node).outputs)
      if (!port.optional && !read.contains({node.id, port.key})) found.unread.push_back({node.id, port.key});
  }
  return found;
}

QRectF around(const Network& drawing, const std::set<std::string>& ids) {
  double left = std::numeric_limits<double>::max(), top = left, right = -left, bottom = -left;
  for (const Node& node : drawing.nodes) {
    if (!ids.contains(node.id)) continue;
    left = std::min(left, node.x), right = std::max(right, node.x);
    top = std::min(top, node.y), bottom = std::max(bottom, node.y);
  }
  return left > right ? QRectF() : QRectF(QPointF(left, top), QPointF(right, bottom));
}

// Ports of one side stand beside each other.
void spread(std::vector<Node*> ports, double middle, double y) {
  const double pitch = kCardWidth + 4 * kGrid, left = middle - pitch * static_cast<double>(ports.size() - 1) / 2;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    ports[i]->x = snapped(left + pitch * static_cast<double>(i));
    ports[i]->y = y;
    ports[i]->placed = true;
  }
}

// Patterns over parameter names ("conv1", "conv1/weight", "conv1.*") go on meaning the same nodes.
void followPatterns(TrainingSpec& training, const std::string& from, const std::string& to) {
  const auto follow = [&](std::vector<std::string>& patterns) {
    for (std::string& pattern : patterns) {
      const bool scope = pattern.size() > from.size() && pattern.starts_with(from) &&
                         (pattern[from.size()] == '.' || pattern[from.size()] == '/');
      if (pattern == from || scope) pattern.replace(0, from.size(), to);
    }
  };
  for (UpdateSpec& update : training.updates) {
    follow(update.parameters);
    follow(update.decayExclude);
  }
}

// The names that an expression of `drawing` may take from around the selection, with the value that an argument begins
// with.
Json namesAround(const Network& drawing, const std::set<std::string>& leaving) {
  Json names = Json::object();
  for (const Argument& argument : drawing.arguments) names[argument.name] = argument.defaultValue;
  for (const Group& group : drawing.groups)
    if (!leaving.contains(group.id) && repeats(group)) names[group.counter.empty() ? "i" : group.counter] = 0;
  return names;
}

}  // namespace

std::string whyNotUnit(const Network& drawing, const std::vector<std::string>& ids) {
  const std::set<std::string> inside = withoutPorts(drawing, ids);
  if (inside.empty())
    return ids.empty() ? "Select the nodes that are to become a unit"
                       : "Inputs and outputs stay outside: select what stands between them";
  if (const std::string way = wayAround(drawing, inside); !way.empty())
    return fmt::format("{} stands between the selected nodes: select it too, as a unit cannot feed itself", way);
  for (const Node& node : drawing.nodes)
    if (!node.shares.empty() && drawing.find(node.shares) != nullptr &&
        inside.contains(node.id) != inside.contains(node.shares))
      return fmt::format("{} shares the weights of {}: both go into the unit or neither", node.id, node.shares);
  return {};
}

std::string makeUnit(Project& project, const std::string& name, const std::vector<std::string>& ids,
                     const std::string& unitName) {
  Network* drawing = project.drawing(name);
  if (drawing == nullptr || !whyNotUnit(*drawing, ids).empty()) return {};
  keepPlaces(*drawing);
  const Network before = *drawing;
  const std::set<std::string> inside = withoutPorts(before, ids);
  const Crossing crossed = crossing(project, before, inside);
  const QRectF place = around(before, inside);

  Network unit;
  unit.name = unitName;
  const std::set<std::string> leaving = groupsInside(before, inside);
  std::set<std::string> taken = inside;
  taken.insert(leaving.begin(), leaving.end());
  for (const Group& group : before.groups)
    if (leaving.contains(group.id)) unit.groups.push_back(group);
  for (Group& group : unit.groups)
    if (!leaving.contains(group.parent)) group.parent.clear();

  // Ports. One alone is called by its side, several by what they bring.
  std::map<Endpoint, std::string> inputs, outputs, opened;
  const bool oneIn = crossed.in.size() + crossed.open.size() == 1;
  const auto port = [&](const char* layer, const std::string& wanted) {
    Node node;
    node.id = freeAmong(taken, wanted);
    node.layer = layer;
    unit.nodes.push_back(node);
    return node.id;
  };
  for (const Endpoint& end : crossed.in)
    inputs[end] = port(kInput, oneIn ? "input" : taken.contains(end.node) ? end.node + "_in" : end.node);
  for (const Endpoint& end : crossed.open) opened[end] = port(kInput, oneIn ? "input" : end.node + "_" + end.port);
  for (const Node& node : before.nodes) {
    if (!inside.contains(node.id)) continue;
    Node& moved = unit.nodes.emplace_back(node);
    if (!leaving.contains(moved.group)) moved.group.clear();
  }
  std::vector<Endpoint> leavingEnds = crossed.out;
  leavingEnds.insert(leavingEnds.end(), crossed.unread.begin(), crossed.unread.end());
  for (const Endpoint& end : leavingEnds)
    outputs[end] = port(kOutput, leavingEnds.size() == 1 ? "output" : "out_" + end.node);
  std::vector<Node*> above, below;
  for (Node& node : unit.nodes)
    if (node.layer == kInput)
      above.push_back(&node);
    else if (node.layer == kOutput)
      below.push_back(&node);
  if (!above.empty()) spread(above, place.center().x(), place.top() - kPitch);
  if (!below.empty()) spread(below, place.center().x(), place.bottom() + kPitch);

  // Its use stands where the first of the nodes stood.
  std::set<std::string> outside;
  for (const Node& node : before.nodes)
    if (!inside.contains(node.id)) outside.insert(node.id);
  for (const Group& group : before.groups) outside.insert(group.id);
  for (const Comment& comment : before.comments) outside.insert(comment.id);
  Node use;
  std::string wanted;
  for (const char c : unitName) wanted += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  use.id = freeAmong(outside, wanted);
  use.unit = unitName;
  use.group = groupAround(before, inside);
  use.x = snapped(place.center().x());
  use.y = place.top();
  use.placed = true;

  const Json around = namesAround(before, leaving);
  std::set<std::string> used;
  for (const Node& node : unit.nodes) used.merge(namesUsed(node));
  for (const Group& group : unit.groups) used.merge(namesUsed(group.repeat));
  for (const auto& [argument, value] : around.items()) {
    if (!used.contains(argument)) continue;
    Argument made;
    made.name = argument;
    made.defaultValue = value;
    unit.arguments.push_back(std::move(made));
    use.values[argument] = "=" + argument;
  }

  // Wires, each in the place of the one that it continues: their order is the order of inputs that take several.
  std::vector<Edge> kept;
  std::set<std::string> entered;
  for (const Edge& edge : before.edges) {
    const bool from = inside.contains(edge.from.node), to = inside.contains(edge.to.node);
    if (from && to) unit.edges.push_back(edge);
    if (!from && to) {
      const std::string& id = inputs[edge.from];
      unit.edges.push_back({{id, outputOf(kInput)}, edge.to});
      if (entered.insert(id).second) kept.push_back({edge.from, {use.id, id}});
    }
    if (from && !to) kept.push_back({{use.id, outputs[edge.from]}, edge.to});
    if (!from && !to) kept.push_back(edge);
  }
  for (const auto& [end, id] : opened) unit.edges.push_back({{id, outputOf(kInput)}, end});
  for (const Endpoint& end : leavingEnds) unit.edges.push_back({end, {outputs[end], inputOf(kOutput)}});

  const auto first = std::find_if(drawing->nodes.begin(), drawing->nodes.end(),
                                  [&](const Node& node) { return inside.contains(node.id); });
  drawing->nodes.insert(first, use);
  std::erase_if(drawing->nodes, [&](const Node& node) { return inside.contains(node.id); });
  std::erase_if(drawing->groups, [&](const Group& group) { return leaving.contains(group.id); });
  drawing->edges = std::move(kept);
  // What stood below comes nearer; the topmost one's place is the use's.
  shiftBelow(*drawing, place.bottom() + kCardHeight / 2, -place.height(), {use.id});
  for (const std::string& id : inside) followPatterns(project.training, id, use.id + "/" + id);
  project.units.push_back(std::move(unit));
  return use.id;
}

std::string whyNotDissolve(const Project& project, const Network& drawing, const std::string& id) {
  const Node* use = drawing.find(id);
  if (use == nullptr || use->unit.empty()) return fmt::format("{} is no unit", id);
  const Network* unit = project.drawing(use->unit);
  if (unit == nullptr) return fmt::format("there is no unit '{}'", use->unit);
  if (repeats(*use) && (unitInputs(*unit).size() != 1 || unitOutputs(*unit).size() != 1))
    return fmt::format("{} repeats a unit of several inputs or outputs: set its repeat to 1 first", id);
  return {};
}

std::vector<std::string> dissolveUnit(Project& project, const std::string& name, const std::string& id) {
  Network* drawing = project.drawing(name);
  if (drawing == nullptr || !whyNotDissolve(project, *drawing, id).empty()) return {};
  keepPlaces(*drawing);
  const Node use = *drawing->find(id);
  const Network unit = *project.drawing(use.unit);
  Json given = Json::object();
  for (const Argument& argument : unit.arguments)
    given[argument.name] = use.values.contains(argument.name) ? use.values[argument.name] : argument.defaultValue;

  std::set<std::string> taken;
  for (const Node& node : drawing->nodes)
    if (node.id != id) taken.insert(node.id);
  for (const Group& group : drawing->groups) taken.insert(group.id);
  for (const Comment& comment : drawing->comments) taken.insert(comment.id);
  std::map<std::string, std::string> names, groups;
  std::set<std::string> inner;
  for (const Node& node : unit.nodes) {
    if (isPortNode(node)) continue;
    inner.insert(node.id);
    names[node.id] = taken.contains(node.id) ? freeAmong(taken, id + "_" + node.id) : freeAmong(taken, node.id);
  }
  std::string outer = use.group;
  if (repeats(use)) {
    Group frame;
    frame.id = drawing->freeId("group");
    frame.title = id;
    frame.parent = use.group;
    frame.repeat = use.repeat;
    outer = frame.id;
    drawing->groups.push_back(std::move(frame));
  }
  for (const Group& group : unit.groups) {
    Group copy = group;
    copy.id = drawing->freeId("group");
    copy.parent = group.parent.empty() ? outer : groups[group.parent];
    substituteIn(copy.repeat, given);
    groups[group.id] = copy.id;
    drawing->groups.push_back(std::move(copy));
  }

  // The topmost of its nodes comes where the use stood; what stands below makes room.
  const QRectF place = around(unit, inner);
  const QPointF shift = snapped(QPointF(use.x - place.center().x(), use.y - place.top()));
  shiftBelow(*drawing, use.y + kCardHeight / 2, place.height(), {id});
  std::vector<Node> come;
  for (const Node& node : unit.nodes) {
    if (isPortNode(node)) continue;
    Node copy = node;
    copy.id = names[node.id];
    copy.group = node.group.empty() ? outer : groups[node.group];
    if (const auto sharer = names.find(node.shares); sharer != names.end()) copy.shares = sharer->second;
    substituteIn(copy.values, given);
    substituteIn(copy.repeat, given);
    copy.x += shift.x(), copy.y += shift.y();
    copy.placed = true;
    come.push_back(std::move(copy));
  }

  std::map<std::string, Endpoint> feeding;  // what reaches a port from outside
  for (const Edge& edge : drawing->edges)
    if (edge.to.node == id) feeding[edge.to.port] = edge.from;
  // Where a wire inside comes from, seen from outside; no node where nothing reaches the port.
  const auto source = [&](const Endpoint& end) -> Endpoint {
    if (const auto renamed = names.find(end.node); renamed != names.end()) return {renamed->second, end.port};
    const auto fed = feeding.find(end.node);
    return fed == feeding.end() ? Endpoint{} : fed->second;
  };
  std::vector<Edge> wires;
  for (const Edge& edge : drawing->edges) {
    if (edge.to.node == id) continue;
    if (edge.from.node != id) {
      wires.push_back(edge);
      continue;
    }
    for (const Edge& within : unit.edges)
      if (within.to.node == edge.from.port && !inner.contains(within.to.node))
        if (const Endpoint from = source(within.from); !from.node.empty()) wires.push_back({from, edge.to});
  }
  for (const Edge& within : unit.edges) {
    if (!inner.contains(within.to.node)) continue;
    if (const Endpoint from = source(within.from); !from.node.empty())
      wires.push_back({from, {names[within.to.node], within.to.port}});
  }
  drawing->edges = std::move(wires);
  const auto at =
      std::find_if(drawing->nodes.begin(), drawing->nodes.end(), [&](const Node& node) { return node.id == id; });
  drawing->nodes.insert(drawing->nodes.erase(at), come.begin(), come.end());
  if (outer != use.group) makeRoom(*drawing, outer);
  std::vector<std::string> ids;
  for (const Node& node : come) ids.push_back(node.id);
  for (const auto& [from, to] : names) followPatterns(project.training, id + "/" + from, to);
  return ids;
}

}  // namespace loom
