#include "widgets/document/drawing_edit.h"

#include <algorithm>
#include <numeric>

namespace loom {

namespace {

std::vector<std::size_t> placesFrom(std::size_t first, std::size_t count) {
  std::vector<std::size_t> at(count);
  std::iota(at.begin(), at.end(), first);
  return at;
}

}  // namespace

DrawingEdit::DrawingEdit(Project& project, ProjectIndex& index, DrawingPlace place, ProjectDelta& delta)
    : m_project(project), m_index(index), m_place(place), m_delta(delta) {}

DrawingEdit::~DrawingEdit() {
  if (m_groups) m_delta.addWhole(m_place, std::move(*m_groups), network().groups);
  if (m_comments) m_delta.addWhole(m_place, std::move(*m_comments), network().comments);
  if (m_arguments) m_delta.addWhole(m_place, std::move(*m_arguments), network().arguments);
}

void DrawingEdit::addNodes(std::size_t first, std::vector<Node> nodes) {
  if (nodes.empty()) return;
  Network& network = writable();
  const std::vector<std::size_t> at = placesFrom(first, nodes.size());
  insertAt(network.nodes, at, nodes);
  links().nodesCame(network, at);
  m_delta.addNodes(m_place, {ListChange::came, at, {}, std::move(nodes)});
}

void DrawingEdit::removeNodes(std::vector<std::size_t> at) {
  if (at.empty()) return;
  Network& network = writable();
  ListStep<Node> step{ListChange::went, std::move(at), {}, {}};
  for (const std::size_t each : step.at) step.before.push_back(network.nodes[each]);
  eraseAt(network.nodes, step.at);
  links().nodesWent(network, step.at);
  m_delta.addNodes(m_place, std::move(step));
}

void DrawingEdit::change(std::string_view id, const std::function<void(Node&)>& change) {
  if (const NetworkIndex::Position at = index().node(id); at != NetworkIndex::kNone)
    this->change(std::size_t{at}, change);
}

void DrawingEdit::changeAll(std::vector<std::size_t> positions, const std::function<void(Node&)>& change) {
  std::sort(positions.begin(), positions.end());
  positions.erase(std::unique(positions.begin(), positions.end()), positions.end());
  Network& network = writable();
  ListStep<CardPlace> moved;
  ListStep<Node> changed;
  for (const std::size_t at : positions) {
    Node after = network.nodes[at];
    change(after);
    Node& node = network.nodes[at];
    if (node.x != after.x || node.y != after.y || node.placed != after.placed) {
      CardPlace before = placeOf(node), now = placeOf(after);
      now.node = before.node;
      setPlace(node, now);
      moved.at.push_back(at);
      moved.before.push_back(std::move(before));
      moved.after.push_back(std::move(now));
    }
    if (sameContent(node, after)) continue;
    Node before = std::exchange(node, after);
    if (before.id != after.id) links().nodeRenamed(network, at, before.id);
    changed.at.push_back(at);
    changed.before.push_back(std::move(before));
    changed.after.push_back(std::move(after));
  }
  if (!moved.empty()) m_delta.addPlaces(m_place, std::move(moved));
  if (!changed.empty()) m_delta.addNodes(m_place, std::move(changed));
}

void DrawingEdit::move(std::size_t at, double x, double y) {
  Node& node = writable().nodes[at];
  if (node.x == x && node.y == y) return;
  CardPlace before = placeOf(node);
  node.x = x;
  node.y = y;
  m_delta.addPlaces(m_place, {ListChange::changed, {at}, {std::move(before)}, {placeOf(node)}});
}

void DrawingEdit::move(std::string_view id, double x, double y) {
  if (const NetworkIndex::Position at = index().node(id); at != NetworkIndex::kNone) move(std::size_t{at}, x, y);
}

void DrawingEdit::moveAll(const std::vector<std::pair<std::size_t, QPointF>>& places) {
  Network& network = writable();
  ListStep<CardPlace> step;
  step.at.reserve(places.size());
  step.before.reserve(places.size());
  step.after.reserve(places.size());
  for (const auto& [at, place] : places) {
    Node& node = network.nodes[at];
    if (node.x == place.x() && node.y == place.y()) continue;
    step.at.push_back(at);
    step.before.push_back(placeOf(node));
    node.x = place.x();
    node.y = place.y();
    step.after.push_back(placeOf(node));
  }
  if (!step.empty()) m_delta.addPlaces(m_place, std::move(step));
}

void DrawingEdit::freezePlaces() {
  Network& network = writable();
  ListStep<CardPlace> step;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) {
    Node& node = network.nodes[i];
    if (node.placed) continue;
    step.at.push_back(i);
    step.before.push_back(placeOf(node));
    node.placed = true;
    step.after.push_back(placeOf(node));
  }
  if (!step.empty()) m_delta.addPlaces(m_place, std::move(step));
}

void DrawingEdit::addWire(std::size_t at, Edge edge) {
  Network& network = writable();
  network.edges.insert(network.edges.begin() + static_cast<std::ptrdiff_t>(at), edge);
  links().wiresCame(network, std::vector<std::size_t>{at});
  m_delta.addWires(m_place, {ListChange::came, {at}, {}, {std::move(edge)}});
}

void DrawingEdit::addWires(std::vector<Edge> edges) {
  if (edges.empty()) return;
  Network& network = writable();
  const std::vector<std::size_t> at = placesFrom(network.edges.size(), edges.size());
  network.edges.insert(network.edges.end(), edges.begin(), edges.end());
  links().wiresCame(network, at);
  m_delta.addWires(m_place, {ListChange::came, at, {}, std::move(edges)});
}

void DrawingEdit::changeWire(std::size_t at, Edge edge) {
  Network& network = writable();
  if (network.edges[at] == edge) return;
  Edge before = std::exchange(network.edges[at], edge);
  links().wireChanged(network, at);
  m_delta.addWires(m_place, {ListChange::changed, {at}, {std::move(before)}, {std::move(edge)}});
}

void DrawingEdit::removeWires(std::vector<std::size_t> at) {
  if (at.empty()) return;
  Network& network = writable();
  ListStep<Edge> step{ListChange::went, std::move(at), {}, {}};
  for (const std::size_t each : step.at) step.before.push_back(network.edges[each]);
  eraseAt(network.edges, step.at);
  links().wiresWent(step.at);
  m_delta.addWires(m_place, std::move(step));
}

}  // namespace loom
