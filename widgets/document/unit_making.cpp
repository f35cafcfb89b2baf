// The part of unit_edits.h that makes a unit of a selection and puts one back into the place of its use.
#include <fmt/core.h>

#include <algorithm>
#include <functional>
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

std::set<std::string> withoutPorts(const Drawing& drawing, const std::vector<std::string>& ids) {
  std::set<std::string> kept;
  for (const std::string& id : ids)
    if (const Node* node = drawing.find(id); node != nullptr && !isPortNode(*node)) kept.insert(id);
  return kept;
}

std::string freeAmong(const std::function<bool(const std::string&)>& taken, const std::string& wanted) {
  std::string id = wanted;
  for (int number = 2; taken(id); ++number) id = wanted + std::to_string(number);
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

std::string whyNotUnit(const Drawing& drawing, const std::vector<std::string>& ids) {
  const std::set<std::string> inside = withoutPorts(drawing, ids);
  if (inside.empty())
    return ids.empty() ? "Select the nodes that are to become a unit"
                       : "Inputs and outputs stay outside: select what stands between them";
  if (const std::string way = wayAround(drawing, inside); !way.empty())
    return fmt::format("{} stands between the selected nodes: select it too, as a unit cannot feed itself", way);
  for (const Node& node : drawing.network.nodes)
    if (!node.shares.empty() && drawing.find(node.shares) != nullptr &&
        inside.contains(node.id) != inside.contains(node.shares))
      return fmt::format("{} shares the weights of {}: both go into the unit or neither", node.id, node.shares);
  return {};
}

namespace {

// The use of a unit that is made of nodes of `drawing`; the unit goes to `unit`.
std::string makeUse(DrawingEdit& edit, const std::set<std::string>& inside, const std::string& unitName,
                    Network& unit) {
  edit.freezePlaces();
  const Network& before = edit.network();
  const Crossing crossed = crossing(edit.project(), before, inside);
  const QRectF place = around(before, inside);

  unit.name = unitName;
  const std::set<std::string> leaving = groupsInside(before, inside);
  std::set<std::string> named = inside;
  named.insert(leaving.begin(), leaving.end());
  for (const Group& group : before.groups)
    if (leaving.contains(group.id)) unit.groups.push_back(group);
  for (Group& group : unit.groups)
    if (!leaving.contains(group.parent)) group.parent.clear();

  // Ports. One alone is called by its side, several by what they bring.
  std::map<Endpoint, std::string> inputs, outputs, opened;
  const bool oneIn = crossed.in.size() + crossed.open.size() == 1;
  const auto port = [&](const char* layer, const std::string& wanted) {
    Node node;
    node.id = freeAmong([&](const std::string& id) { return named.contains(id); }, wanted);
    named.insert(node.id);
    node.layer = layer;
    unit.nodes.push_back(node);
    return node.id;
  };
  for (const Endpoint& end : crossed.in)
    inputs[end] = port(kInput, oneIn ? "input" : named.contains(end.node) ? end.node + "_in" : end.node);
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
  Node use;
  std::string wanted;
  for (const char c : unitName) wanted += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto taken = [&](const std::string& id) {
    return (edit.find(id) != nullptr && !inside.contains(id)) || before.group(id) != nullptr ||
           before.comment(id) != nullptr;
  };
  use.id = freeAmong(taken, wanted);
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
  std::vector<std::size_t> gone;
  std::vector<std::pair<std::size_t, Edge>> kept;
  std::set<std::string> entered;
  for (std::size_t i = 0; i < before.edges.size(); ++i) {
    const Edge& edge = before.edges[i];
    const bool from = inside.contains(edge.from.node), to = inside.contains(edge.to.node);
    if (from && to) unit.edges.push_back(edge);
    if (!from && to) {
      const std::string& id = inputs[edge.from];
      unit.edges.push_back({{id, outputOf(kInput)}, edge.to});
      if (entered.insert(id).second) kept.emplace_back(i, Edge{edge.from, {use.id, id}});
    }
    if (from && !to) kept.emplace_back(i, Edge{{use.id, outputs[edge.from]}, edge.to});
    if (to && (kept.empty() || kept.back().first != i)) gone.push_back(i);
  }
  for (const auto& [end, id] : opened) unit.edges.push_back({{id, outputOf(kInput)}, end});
  for (const Endpoint& end : leavingEnds) unit.edges.push_back({end, {outputs[end], inputOf(kOutput)}});

  std::vector<std::size_t> nodes;
  for (const std::string& id : inside) nodes.push_back(edit.index().node(id));
  std::sort(nodes.begin(), nodes.end());
  const std::size_t first = nodes.front();
  for (auto& [at, edge] : kept) edit.changeWire(at, std::move(edge));
  edit.removeWires(std::move(gone));
  edit.removeNodes(std::move(nodes));
  edit.addNodes(first, {use});
  if (!leaving.empty()) std::erase_if(edit.groups(), [&](const Group& group) { return leaving.contains(group.id); });
  // What stood below comes nearer; the topmost one's place is the use's.
  shiftBelow(edit, place.bottom() + kCardHeight / 2, -place.height(), {use.id});
  return use.id;
}

}  // namespace

std::string makeUnit(ProjectEdit& edit, const std::string& name, const std::vector<std::string>& ids,
                     const std::string& unitName) {
  std::string use;
  std::set<std::string> inside;
  Network unit;
  edit.drawing(name, [&](DrawingEdit& drawing) {
    if (!whyNotUnit(drawing.drawing(), ids).empty()) return;
    inside = withoutPorts(drawing.drawing(), ids);
    use = makeUse(drawing, inside, unitName, unit);
  });
  if (use.empty()) return use;
  for (const std::string& id : inside) followPatterns(edit.training(), id, use + "/" + id);
  edit.addUnit(std::move(unit));
  return use;
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

namespace {

// The unit's nodes in the place of its use: what each of them is called now.
std::map<std::string, std::string> putBack(DrawingEdit& edit, const std::string& id) {
  const Network& drawing = edit.network();
  edit.freezePlaces();
  const Node use = *edit.find(id);
  const Network& unit = *edit.project().drawing(use.unit);
  Json given = Json::object();
  for (const Argument& argument : unit.arguments)
    given[argument.name] = use.values.contains(argument.name) ? use.values[argument.name] : argument.defaultValue;

  std::map<std::string, std::string> names, groups;
  std::set<std::string> inner, called;
  const auto taken = [&](const std::string& wanted) {
    return called.contains(wanted) || (wanted != id && edit.find(wanted) != nullptr) ||
           drawing.group(wanted) != nullptr || drawing.comment(wanted) != nullptr;
  };
  for (const Node& node : unit.nodes) {
    if (isPortNode(node)) continue;
    inner.insert(node.id);
    names[node.id] = freeAmong(taken, taken(node.id) ? id + "_" + node.id : node.id);
    called.insert(names[node.id]);
  }
  std::string outer = use.group;
  if (repeats(use)) {
    Group frame;
    frame.id = drawing.freeId("group");
    frame.title = id;
    frame.parent = use.group;
    frame.repeat = use.repeat;
    outer = frame.id;
    edit.groups().push_back(std::move(frame));
  }
  for (const Group& group : unit.groups) {
    Group copy = group;
    copy.id = drawing.freeId("group");
    copy.parent = group.parent.empty() ? outer : groups[group.parent];
    substituteIn(copy.repeat, given);
    groups[group.id] = copy.id;
    edit.groups().push_back(std::move(copy));
  }

  // The topmost of its nodes comes where the use stood; what stands below makes room.
  const QRectF place = around(unit, inner);
  const QPointF shift = snapped(QPointF(use.x - place.center().x(), use.y - place.top()));
  shiftBelow(edit, use.y + kCardHeight / 2, place.height(), {id});
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

  const auto at = edit.index().node(id);
  const std::vector<std::size_t> into(edit.index().into(at).begin(), edit.index().into(at).end());
  const std::vector<std::size_t> outOf(edit.index().outOf(at).begin(), edit.index().outOf(at).end());
  std::map<std::string, Endpoint> feeding;  // what reaches a port from outside
  for (const std::size_t wire : into) feeding[drawing.edges[wire].to.port] = drawing.edges[wire].from;
  // Where a wire inside comes from, seen from outside; no node where nothing reaches the port.
  const auto source = [&](const Endpoint& end) -> Endpoint {
    if (const auto renamed = names.find(end.node); renamed != names.end()) return {renamed->second, end.port};
    const auto fed = feeding.find(end.node);
    return fed == feeding.end() ? Endpoint{} : fed->second;
  };
  // From the back, where places further ahead stay as they are: what left the use leaves what reached its port inside.
  std::vector<std::pair<std::size_t, std::vector<Edge>>> instead;
  for (const std::size_t wire : into) instead.push_back({wire, {}});
  for (const std::size_t wire : outOf) {
    const Edge& edge = drawing.edges[wire];
    if (edge.to.node == id) continue;
    std::vector<Edge>& edges = instead.emplace_back(wire, std::vector<Edge>()).second;
    for (const Edge& within : unit.edges)
      if (within.to.node == edge.from.port && !inner.contains(within.to.node))
        if (const Endpoint from = source(within.from); !from.node.empty()) edges.push_back({from, edge.to});
  }
  std::sort(instead.begin(), instead.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  for (const auto& [wire, edges] : instead) {
    if (edges.empty())
      edit.removeWire(wire);
    else
      edit.changeWire(wire, edges.front());
    for (std::size_t i = 1; i < edges.size(); ++i) edit.addWire(wire + i, edges[i]);
  }
  std::vector<Edge> inside;
  for (const Edge& within : unit.edges) {
    if (!inner.contains(within.to.node)) continue;
    if (const Endpoint from = source(within.from); !from.node.empty())
      inside.push_back({from, {names[within.to.node], within.to.port}});
  }
  edit.removeNodes({at});
  edit.addNodes(at, std::move(come));
  edit.addWires(std::move(inside));
  if (outer != use.group) makeRoom(edit, outer);
  return names;
}

}  // namespace

std::vector<std::string> dissolveUnit(ProjectEdit& edit, const std::string& name, const std::string& id) {
  std::vector<std::string> ids;
  std::map<std::string, std::string> names;
  edit.drawing(name, [&](DrawingEdit& drawing) {
    if (!whyNotDissolve(edit.project(), drawing.network(), id).empty()) return;
    const auto at = drawing.index().node(id);
    names = putBack(drawing, id);
    for (std::size_t i = 0; i < names.size(); ++i) ids.push_back(drawing.network().nodes[at + i].id);
  });
  for (const auto& [from, to] : names) followPatterns(edit.training(), id + "/" + from, to);
  return ids;
}

}  // namespace loom
