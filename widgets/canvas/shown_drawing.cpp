#include "widgets/canvas/shown_drawing.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "widgets/document/group_edits.h"

namespace loom {

bool hasFolded(const Network& drawn) {
  return std::any_of(drawn.groups.begin(), drawn.groups.end(), [](const Group& group) { return group.folded; });
}

namespace {

// What is seen of a node beside its words, which are the document's to say.
Node asSeen(const Node& node, const std::map<std::string, QPointF>& moved) {
  Node seen{.id = node.id,
            .layer = node.layer,
            .values = Json(),
            .x = node.x,
            .y = node.y,
            .placed = true,
            .unit = node.unit};
  if (moved.empty()) return seen;
  if (const auto there = moved.find(node.id); there != moved.end())
    seen.x = there->second.x(), seen.y = there->second.y();
  return seen;
}

}  // namespace

std::set<std::string> ShownDrawing::folded() const {
  std::set<std::string> groups;
  for (const auto& [node, group] : in) groups.insert(group);
  return groups;
}

bool ShownDrawing::follow(const Drawing& drawn, const NetworkChange& change,
                          const std::map<std::string, QPointF>& moved) {
  if (change.edges || change.groups || !change.added.empty() || !change.removed.empty()) return false;
  for (const std::string& id : change.changed) {
    const Node* node = drawn.find(id);
    const auto hidden = in.find(id);
    if (node == nullptr || hiddenIn(drawn.network, *node) != (hidden == in.end() ? std::string() : hidden->second))
      return false;
  }
  for (const std::vector<std::string>* ids : {&change.changed, &change.moved})
    for (const std::string& id : *ids)
      if (const auto at = index.node(id); at != NetworkIndex::kNone) network.nodes[at] = asSeen(*drawn.find(id), moved);
  const std::set<std::string> groups = folded();
  const std::map<std::string, QRectF> frames = groupFrames(drawn.network, moved);
  for (const std::string& group : groups) {
    Node& card = network.nodes[index.node(group)];
    const QPointF at = foldedCard(frames.at(group)).center();
    card.x = at.x();
    card.y = at.y();
  }
  // The units may be others; those that stand for the groups are the last.
  const auto first = project.units.end() - static_cast<std::ptrdiff_t>(groups.size());
  std::vector<Network> pins(std::make_move_iterator(first), std::make_move_iterator(project.units.end()));
  project.units = drawn.project.units;
  std::move(pins.begin(), pins.end(), std::back_inserter(project.units));
  return true;
}

ShownDrawing shownDrawing(const Project& project, const Network& drawn, const std::map<std::string, QPointF>& moved) {
  ShownDrawing shown;
  shown.network.name = drawn.name;
  shown.network.nodes.reserve(drawn.nodes.size());
  shown.network.edges.reserve(drawn.edges.size());
  shown.project.units = project.units;
  std::map<std::string, Network> pins;
  const std::map<std::string, QRectF> frames = groupFrames(drawn, moved);
  std::set<std::string> seen;
  for (const Node& node : drawn.nodes) {
    const std::string group = hiddenIn(drawn, node);
    if (group.empty()) {
      shown.network.nodes.push_back(asSeen(node, moved));
      continue;
    }
    shown.in[node.id] = group;
    if (!seen.insert(group).second) continue;
    Node card;
    card.id = group;
    card.unit = pins[group].name = "folded " + group;  // no unit of a project can be called so
    const QPointF at = foldedCard(frames.at(group)).center();
    card.x = at.x();
    card.y = at.y();
    card.placed = true;
    shown.network.nodes.push_back(std::move(card));
  }
  const auto pin = [&](const std::string& group, const std::string& port, const char* layer) {
    Network& unit = pins[group];
    if (unit.find(port + layer) != nullptr) return port + layer;
    Node node;
    node.id = port + layer;
    node.layer = layer;
    unit.nodes.push_back(std::move(node));
    return port + layer;
  };
  const auto place = [&](const std::string& node) -> const std::string* {
    const auto hidden = shown.in.find(node);
    return hidden == shown.in.end() ? nullptr : &hidden->second;
  };
  std::set<Edge> drawnOnce;
  for (std::size_t i = 0; i < drawn.edges.size(); ++i) {
    Edge edge = drawn.edges[i];
    const std::string *from = place(edge.from.node), *to = place(edge.to.node);
    if (from != nullptr && to != nullptr && *from == *to) continue;
    // One pin a tensor: what several members read of one output comes in once.
    const std::string source = edge.from.node + "." + edge.from.port;
    if (to != nullptr) edge.to = {*to, pin(*to, source, "Input")};
    if (from != nullptr) edge.from = {*from, pin(*from, source, "Output")};
    if ((from != nullptr || to != nullptr) && !drawnOnce.insert(edge).second) continue;
    shown.network.edges.push_back(std::move(edge));
    shown.edges.push_back(i);
  }
  for (auto& [group, unit] : pins) shown.project.units.push_back(std::move(unit));
  shown.index.rebuild(shown.network);
  return shown;
}

}  // namespace loom
