#include "widgets/document/arrange.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "widgets/document/card_geometry.h"
#include "widgets/document/card_grid.h"
#include "widgets/document/layered_graph.h"
#include "widgets/document/network_edits.h"

namespace loom {

namespace {

constexpr double kTrack = 12;  // between two wires that run across
constexpr double kBetweenParts = 72;

// Distances from the centres of each rank to those of the next: a straight wire takes the pitch, wires that run across
// need a track each.
std::vector<double> pitches(const LayeredGraph& graph) {
  std::vector<std::set<std::pair<int, double>>> across(graph.layers.size());
  for (const LayeredEdge& edge : graph.edges) {
    const LayeredVertex &from = graph.vertices[static_cast<std::size_t>(edge.from)],
                        &to = graph.vertices[static_cast<std::size_t>(edge.to)];
    if (std::abs(from.x + edge.fromPin - to.x - edge.toPin) > 1)
      across[static_cast<std::size_t>(from.rank)].emplace(edge.from, edge.fromPin);
  }
  std::vector<double> found;
  for (const auto& tracks : across)
    found.push_back(tracks.empty()
                        ? kPitch
                        : kPitch + kGrid + kTrack * static_cast<double>(std::min<std::size_t>(tracks.size(), 6)));
  return found;
}

}  // namespace

ArrangeTask arrangeTask(const Drawing& drawing) {
  ArrangeTask task;
  const Network& network = drawing.network;
  if (network.nodes.empty()) return task;
  task.first = {network.nodes.front().x, network.nodes.front().y};
  for (const Node& node : network.nodes) task.cards.push_back({node.id, cardWidth(node)});
  for (std::size_t i = 0; i < network.edges.size(); ++i) {
    const auto from = drawing.index.from(i), to = drawing.index.to(i);
    if (from == NetworkIndex::kNone || to == NetworkIndex::kNone || from == to) continue;
    const Node &source = network.nodes[from], &target = network.nodes[to];
    task.wires.push_back({static_cast<int>(from), static_cast<int>(to),
                          outputPin(drawing.project, source, network.edges[i].from.port).x() - source.x,
                          inputPin(drawing, i).x() - target.x});
  }
  return task;
}

std::map<std::string, QPointF> arranged(const ArrangeTask& task, const std::atomic<bool>* cancelled) {
  std::map<std::string, QPointF> places;
  const auto stop = [&] { return cancelled != nullptr && *cancelled; };
  if (task.cards.empty()) return places;
  double left = 0;
  for (LayeredGraph& part : layeredParts(task)) {
    if (stop() || !orderLayers(part, cancelled)) return {};
    assignColumns(part);
    if (stop()) return {};
    double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
    for (LayeredVertex& vertex : part.vertices) {
      vertex.x = snapped(vertex.x);
      low = std::min(low, vertex.x - vertex.width / 2);
      high = std::max(high, vertex.x + vertex.width / 2);
    }
    const std::vector<double> below = pitches(part);
    double y = 0;
    for (std::size_t rank = 0; rank < part.layers.size(); ++rank) {
      for (const int index : part.layers[rank]) {
        const LayeredVertex& vertex = part.vertices[static_cast<std::size_t>(index)];
        if (!vertex.bend())
          places[task.cards[static_cast<std::size_t>(vertex.card)].id] = {snapped(left + vertex.x - low), y};
      }
      y += below[rank];
    }
    left += high - low + kBetweenParts;
  }
  const QPointF shift = snapped(task.first) - places[task.cards.front().id];
  for (auto& [id, place] : places) place += shift;
  return places;
}

std::map<std::string, QPointF> arranged(const Network& network) {
  return arranged(Drawing{kNoUnits, network, NetworkIndex(network)});
}

namespace {

void placeUnplaced(const Project& project, Network& network) {
  const auto unplaced = [](const Node& node) { return !node.placed; };
  if (std::none_of(network.nodes.begin(), network.nodes.end(), unplaced)) return;
  const NetworkIndex index(network);
  if (std::all_of(network.nodes.begin(), network.nodes.end(), unplaced)) {
    const std::map<std::string, QPointF> places = arranged(Drawing{project, network, index});
    for (Node& node : network.nodes) {
      const QPointF at = places.at(node.id);
      node.x = at.x();
      node.y = at.y();
    }
    return;
  }
  double bottom = 0, left = 0;
  CardGrid grid;  // of those that stand: a node without a place is in nobody's way
  std::vector<char> stands(network.nodes.size(), 0);
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    const Node& node = network.nodes[i];
    if (!node.placed) continue;
    bottom = std::max(bottom, node.y);
    left = std::min(left, node.x);
    stands[i] = 1;
    grid.put(i, cardRect(node));
  }
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    Node& node = network.nodes[i];
    if (node.placed) continue;
    node.x = left;
    node.y = bottom + kPitch;
    for (const auto wire : index.into(static_cast<NetworkIndex::Position>(i))) {
      const auto before = index.from(wire);
      if (before == NetworkIndex::kNone || !stands[before]) continue;
      node.x = network.nodes[before].x;
      node.y = network.nodes[before].y + kPitch;
      break;
    }
    setPlace(node, freePlace(grid, node));
    stands[i] = 1;
    grid.put(i, cardRect(node));
  }
}

}  // namespace

void placeUnplaced(Network& network) {
  placeUnplaced(kNoUnits, network);
}

void placeUnplaced(Project& project) {
  for (Network& network : project.networks) placeUnplaced(project, network);
  for (Network& unit : project.units) placeUnplaced(project, unit);
}

}  // namespace loom
