#include "widgets/document/arrange.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "widgets/document/card_geometry.h"
#include "widgets/document/layered_graph.h"
#include "widgets/document/network_edits.h"

namespace loom {

namespace {

constexpr double kTrack = 12;          // between two wires that run across
constexpr double kBetweenParts = 72;

// Distance from the centres of rank `rank` to those of the next: a straight wire takes the pitch, wires that run across need a
// track each.
double pitchBelow(const LayeredGraph& graph, int rank) {
  std::set<std::pair<int, double>> across;
  for (const LayeredEdge& edge : graph.edges) {
    const LayeredVertex &from = graph.vertices[static_cast<std::size_t>(edge.from)], &to = graph.vertices[static_cast<std::size_t>(edge.to)];
    if (from.rank == rank && std::abs(from.x + edge.fromPin - to.x - edge.toPin) > 1) across.emplace(edge.from, edge.fromPin);
  }
  if (across.empty()) return kPitch;
  return kPitch + kGrid + kTrack * static_cast<double>(std::min<std::size_t>(across.size(), 6));
}

}  // namespace

std::map<std::string, QPointF> arranged(const Network& network) {
  std::map<std::string, QPointF> places;
  if (network.nodes.empty()) return places;
  double left = 0;
  for (LayeredGraph& part : layeredParts(network)) {
    assignColumns(part);
    double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
    for (LayeredVertex& vertex : part.vertices) {
      vertex.x = snapped(vertex.x);
      low = std::min(low, vertex.x - vertex.width / 2);
      high = std::max(high, vertex.x + vertex.width / 2);
    }
    double y = 0;
    for (std::size_t rank = 0; rank < part.layers.size(); ++rank) {
      for (const int index : part.layers[rank]) {
        const LayeredVertex& vertex = part.vertices[static_cast<std::size_t>(index)];
        if (!vertex.bend()) places[vertex.node] = {snapped(left + vertex.x - low), y};
      }
      y += pitchBelow(part, static_cast<int>(rank));
    }
    left += high - low + kBetweenParts;
  }
  const Node& anchor = network.nodes.front();
  const QPointF shift = snapped(QPointF(anchor.x, anchor.y)) - places[anchor.id];
  for (auto& [id, place] : places) place += shift;
  return places;
}

void placeUnplaced(Network& network) {
  const auto unplaced = [](const Node& node) { return !node.placed; };
  if (std::none_of(network.nodes.begin(), network.nodes.end(), unplaced)) return;
  if (std::all_of(network.nodes.begin(), network.nodes.end(), unplaced)) {
    const std::map<std::string, QPointF> places = arranged(network);
    for (Node& node : network.nodes) {
      const QPointF at = places.at(node.id);
      node.x = at.x();
      node.y = at.y();
    }
    return;
  }
  double bottom = 0, left = 0;
  for (const Node& node : network.nodes) {
    if (!node.placed) continue;
    bottom = std::max(bottom, node.y);
    left = std::min(left, node.x);
  }
  Network seen{network.name, {}, {}};  // so that a node without a place is in nobody's way
  for (const Node& node : network.nodes)
    if (node.placed) seen.nodes.push_back(node);
  for (Node& node : network.nodes) {
    if (node.placed) continue;
    node.x = left;
    node.y = bottom + kPitch;
    for (const Edge& edge : network.edges) {
      const Node* before = edge.to.node == node.id ? seen.find(edge.from.node) : nullptr;
      if (before == nullptr) continue;
      node.x = before->x;
      node.y = before->y + kPitch;
      break;
    }
    placeFree(seen, node);
    seen.nodes.push_back(node);
  }
}

}  // namespace loom
