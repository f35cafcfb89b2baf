// The part of network_edits.h that is about places.
#include <algorithm>
#include <set>

#include "widgets/document/card_geometry.h"
#include "widgets/document/network_edits.h"

namespace loom {

namespace {

// Cards nearer than this look like one: a wire with its shape must fit between them, a lane beside them.
QRectF withAir(const Node& node) { return cardRect(node).adjusted(-kGrid, -5, kGrid, 5); }

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
  std::set<std::string> moving(behind.begin(), behind.end());
  moving.erase(id);
  for (const std::string& each : behind) {
    Node* below = network.find(each);
    if (below != nullptr && below->y > node->y - kPitch) below->y += nearest;
  }
  // What the moved cards now cover goes down too, until nothing is covered.
  for (bool again = true; again;) {
    again = false;
    for (Node& other : network.nodes) {
      if (moving.contains(other.id) || other.id == id) continue;
      const bool covered = std::any_of(network.nodes.begin(), network.nodes.end(), [&](const Node& mover) {
        return moving.contains(mover.id) && withAir(mover).intersects(cardRect(other));
      });
      if (!covered) continue;
      other.y += nearest;
      moving.insert(other.id);
      again = true;
    }
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
