#include "widgets/canvas/shown_drawing.h"

#include <algorithm>
#include <set>

#include "widgets/document/group_edits.h"

namespace loom {

bool hasFolded(const Network& drawn) {
  return std::any_of(drawn.groups.begin(), drawn.groups.end(), [](const Group& group) { return group.folded; });
}

ShownDrawing shownDrawing(const Project& project, const Network& drawn, const std::map<std::string, QPointF>& moved) {
  ShownDrawing shown;
  shown.network.name = drawn.name;
  shown.project.units = project.units;
  std::map<std::string, Network> pins;
  const std::map<std::string, QRectF> frames = groupFrames(drawn, moved);
  std::set<std::string> seen;
  for (const Node& node : drawn.nodes) {
    const std::string group = hiddenIn(drawn, node);
    if (group.empty()) {
      shown.network.nodes.push_back(node);
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
  for (Node& node : shown.network.nodes)
    if (const auto there = moved.find(node.id); there != moved.end())
      node.x = there->second.x(), node.y = there->second.y();
  shown.index.rebuild(shown.network);
  return shown;
}

}  // namespace loom
