// The part of network_edits.h that is about places.
#include <algorithm>
#include <cmath>
#include <set>

#include "widgets/document/card_geometry.h"
#include "widgets/document/network_edits.h"

namespace loom {

namespace {

// Cards nearer than this look like one: a wire with its shape must fit between them, a lane beside them.
QRectF withAir(const Node& node) { return cardRect(node).adjusted(-kGrid, -5, kGrid, 5); }

// What moves takes the Inputs beside it along: those at `from` or below whose wires all lead there.
void takeInputsAlong(const Network& network, std::set<std::string>& moving, double from) {
  for (bool again = true; again;) {
    again = false;
    for (const Node& node : network.nodes) {
      if (moving.contains(node.id) || node.y < from) continue;
      bool feeds = false, elsewhere = false;
      for (const Edge& edge : network.edges) {
        if (edge.to.node == node.id) elsewhere = true;
        if (edge.from.node == node.id) (moving.contains(edge.to.node) ? feeds : elsewhere) = true;
      }
      if (feeds && !elsewhere) again = moving.insert(node.id).second;
    }
  }
}

}  // namespace

void moveDownBehind(Network& network, const std::string& id) {
  const Node* node = network.find(id);
  if (node == nullptr) return;
  const std::vector<std::string> behind = downstream(network, id);
  double nearest = 0;
  for (const std::string& each : behind) {
    const Node* below = network.find(each);
    if (below != nullptr && below->y > node->y - kPitch) nearest = std::max(nearest, node->y + kPitch - below->y);
  }
  if (nearest <= 0) return;
  std::set<std::string> moving;
  for (const std::string& each : behind) {
    const Node* below = network.find(each);
    if (below != nullptr && below->y > node->y - kPitch) moving.insert(each);
  }
  moving.erase(id);
  takeInputsAlong(network, moving, node->y);
  for (Node& each : network.nodes)
    if (moving.contains(each.id)) each.y += nearest;
  // What the moved cards now cover goes down too, until nothing is covered.
  for (bool again = true; again;) {
    again = false;
    for (Node& other : network.nodes) {
      if (moving.contains(other.id) || other.id == id) continue;
      const bool covered = std::any_of(network.nodes.begin(), network.nodes.end(), [&](const Node& mover) {
        return (moving.contains(mover.id) || mover.id == id) && withAir(mover).intersects(cardRect(other));
      });
      if (!covered) continue;
      other.y += nearest;
      moving.insert(other.id);
      again = true;
    }
  }
}

void seatBelow(Network& network, const std::string& id, const std::string& above) {
  Node* node = network.find(id);
  const Node* source = network.find(above);
  if (node == nullptr || source == nullptr) return;
  if (std::abs(node->x - source->x) >= kCardWidth) return;  // in a lane of its own
  node->x = source->x;
  node->y = std::max(node->y, source->y + kPitch);
}

void moveUpBehind(Network& network, const Network& before, const std::vector<std::string>& removed) {
  for (const std::string& id : removed) {
    const Node* gone = before.find(id);
    if (gone == nullptr || !gone->placed) continue;
    // Only a straight column closes: the card right below the removed one tells how far.
    std::set<std::string> moving;
    double lift = 0;
    for (const Edge& edge : before.edges) {
      const Node* below = edge.from.node == id ? before.find(edge.to.node) : nullptr;
      if (below == nullptr || below->x != gone->x || below->y <= gone->y) continue;
      lift = lift == 0 ? below->y - gone->y : std::min(lift, below->y - gone->y);
    }
    if (lift <= 0) continue;
    for (const std::string& each : downstream(before, id))
      if (network.find(each) != nullptr) moving.insert(each);
    takeInputsAlong(network, moving, gone->y);
    const bool covers = std::any_of(network.nodes.begin(), network.nodes.end(), [&](const Node& node) {
      if (!moving.contains(node.id)) return false;
      Node lifted = node;
      lifted.y -= lift;
      return std::any_of(network.nodes.begin(), network.nodes.end(), [&](const Node& other) {
        return !moving.contains(other.id) && withAir(other).intersects(cardRect(lifted));
      });
    });
    if (covers) continue;
    for (Node& node : network.nodes)
      if (moving.contains(node.id)) node.y -= lift;
  }
}

void placeFree(const Network& network, Node& node) {
  const QPointF wanted = snapped(QPointF(node.x, node.y));
  const auto free = [&](QPointF at) {
    node.x = at.x();
    node.y = at.y();
    const QRectF card = cardRect(node);
    return std::none_of(network.nodes.begin(), network.nodes.end(),
                        [&](const Node& other) { return other.id != node.id && withAir(other).intersects(card); });
  };
  if (free(wanted)) return;
  constexpr double kAside = kCardWidth + 2 * kGrid;
  for (int ring = 1;; ++ring)
    for (int below = 0; below <= ring; ++below)
      if (free(wanted + QPointF((ring - below) * kAside, below * kPitch))) return;
}

void freezePlaces(Network& network) {
  for (Node& node : network.nodes) node.placed = true;
}

}  // namespace loom
