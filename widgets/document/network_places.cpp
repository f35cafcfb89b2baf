// The part of network_edits.h that is about places.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "widgets/document/card_geometry.h"
#include "widgets/document/card_grid.h"
#include "widgets/document/network_edits.h"

namespace loom {

namespace {

constexpr auto kNobody = NetworkIndex::kNone;
constexpr std::size_t kMostGaps = 40;
constexpr double kAside = kCardWidth + 2 * kGrid;  // from one place that a new card may take to the next

// Cards nearer than this look like one: a wire with its shape must fit between them, a lane beside them.
QRectF withAir(const QRectF& card) {
  return card.adjusted(-kGrid, -5, kGrid, 5);
}

CardGrid gridOf(const Network& network) {
  CardGrid grid;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) grid.put(i, cardRect(network.nodes[i]));
  return grid;
}

// What moves takes the Inputs beside it along: those at `from` or below whose wires all lead there.
void takeInputsAlong(const Drawing& drawing, std::vector<std::size_t>& moving, std::vector<char>& isMoving,
                     double from) {
  const NetworkIndex& index = drawing.index;
  for (std::size_t next = 0, count = moving.size(); next < count; ++next)
    for (const auto wire : index.into(static_cast<NetworkIndex::Position>(moving[next]))) {
      const auto source = index.from(wire);
      if (source == kNobody || isMoving[source] || drawing.network.nodes[source].y < from ||
          !index.into(source).empty())
        continue;
      const auto leads = index.outOf(source);
      if (!std::all_of(leads.begin(), leads.end(),
                       [&](auto each) { return index.to(each) != kNobody && isMoving[index.to(each)]; }))
        continue;
      isMoving[source] = 1;
      moving.push_back(source);
    }
}

void shift(DrawingEdit& edit, std::vector<std::size_t>& nodes, double down) {
  std::sort(nodes.begin(), nodes.end());
  std::vector<std::pair<std::size_t, QPointF>> places;
  for (const std::size_t each : nodes)
    places.emplace_back(each, QPointF(edit.network().nodes[each].x, edit.network().nodes[each].y + down));
  edit.moveAll(places);
}

// The first free place that stands not further off than `rings`; none where all are taken.
std::optional<CardPlace> placeWithin(const CardGrid& grid, Node node, std::size_t own, int rings) {
  const QPointF wanted = snapped(QPointF(node.x, node.y));
  const auto free = [&](QPointF at) {
    node.x = at.x();
    node.y = at.y();
    const QRectF card = cardRect(node);
    return !grid.any(withAir(card), [&](std::size_t other, const QRectF& rect) {
      return other != own && withAir(rect).intersects(card);
    });
  };
  for (int ring = 0; ring <= rings; ++ring)
    for (int below = 0; below <= ring; ++below)
      if (free(wanted + QPointF((ring - below) * kAside, below * kPitch))) return placeOf(node);
  return std::nullopt;
}

}  // namespace

void moveDownBehind(DrawingEdit& edit, const std::string& id) {
  const Network& network = edit.network();
  const auto at = edit.index().node(id);
  if (at == kNobody) return;
  const Node& node = network.nodes[at];
  double nearest = 0;
  std::vector<std::size_t> moving;
  for (const auto below : edit.index().downstream(at)) {
    if (network.nodes[below].y <= node.y - kPitch) continue;
    nearest = std::max(nearest, node.y + kPitch - network.nodes[below].y);
    if (below != at) moving.push_back(below);
  }
  if (nearest <= 0) return;
  std::vector<char> isMoving(network.nodes.size(), 0);
  for (const std::size_t each : moving) isMoving[each] = 1;
  takeInputsAlong(edit.drawing(), moving, isMoving, node.y);
  // What the moved cards now cover goes down too, until nothing is covered.
  const CardGrid grid = gridOf(network);
  isMoving[at] = 1;
  const auto cover = [&](const QRectF& card) {
    grid.any(withAir(card), [&](std::size_t other, const QRectF& rect) {
      if (isMoving[other] || !withAir(card).intersects(rect)) return false;
      isMoving[other] = 1;
      moving.push_back(other);
      return false;
    });
  };
  cover(cardRect(node));
  for (std::size_t next = 0; next < moving.size(); ++next) cover(grid.rect(moving[next]).translated(0, nearest));
  shift(edit, moving, nearest);
}

void seatBelow(DrawingEdit& edit, const std::string& id, const std::string& above) {
  const Node *node = edit.find(id), *source = edit.find(above);
  if (node == nullptr || source == nullptr) return;
  if (std::abs(node->x - source->x) >= kCardWidth) return;  // in a lane of its own
  edit.move(id, source->x, std::max(node->y, source->y + kPitch));
}

std::vector<Gap> gapsOf(const Drawing& drawing, const std::vector<std::string>& removed) {
  std::vector<Gap> gaps;
  if (removed.size() > kMostGaps) return gaps;
  for (const std::string& id : removed) {
    const auto at = drawing.index.node(id);
    if (at == kNobody || !drawing.network.nodes[at].placed) continue;
    const Node& gone = drawing.network.nodes[at];
    // Only a straight column closes: the card right below the removed one tells how far.
    Gap gap{gone.y, 0, {}};
    for (const auto wire : drawing.index.outOf(at)) {
      const auto to = drawing.index.to(wire);
      if (to == kNobody) continue;
      const Node& below = drawing.network.nodes[to];
      if (below.x != gone.x || below.y <= gone.y) continue;
      gap.lift = gap.lift == 0 ? below.y - gone.y : std::min(gap.lift, below.y - gone.y);
    }
    if (gap.lift <= 0) continue;
    for (const auto each : drawing.index.downstream(at)) gap.behind.push_back(drawing.network.nodes[each].id);
    gaps.push_back(std::move(gap));
  }
  return gaps;
}

void close(DrawingEdit& edit, const std::vector<Gap>& gaps) {
  if (gaps.empty()) return;
  const Network& network = edit.network();
  CardGrid grid = gridOf(network);
  for (const Gap& gap : gaps) {
    std::vector<std::size_t> moving;
    std::vector<char> isMoving(network.nodes.size(), 0);
    for (const std::string& id : gap.behind)
      if (const auto at = edit.index().node(id); at != kNobody && !isMoving[at]) {
        isMoving[at] = 1;
        moving.push_back(at);
      }
    takeInputsAlong(edit.drawing(), moving, isMoving, gap.y);
    const bool covers = std::any_of(moving.begin(), moving.end(), [&](std::size_t each) {
      const QRectF lifted = grid.rect(each).translated(0, -gap.lift);
      return grid.any(withAir(lifted), [&](std::size_t other, const QRectF& rect) {
        return !isMoving[other] && withAir(rect).intersects(lifted);
      });
    });
    if (covers) continue;
    shift(edit, moving, -gap.lift);
    for (const std::size_t each : moving) grid.put(each, cardRect(network.nodes[each]));
  }
}

// Cards near by are enough to look at, and most often a few of them.
CardPlace freePlace(const Drawing& drawing, const Node& node) {
  const QPointF wanted = snapped(QPointF(node.x, node.y));
  for (int rings = 4;; rings *= 4) {
    const QRectF near(wanted - QPointF(kAside, kPitch), wanted + QPointF((rings + 1) * kAside, (rings + 1) * kPitch));
    CardGrid grid;
    for (std::size_t i = 0; i < drawing.network.nodes.size(); ++i)
      if (const QRectF card = cardRect(drawing.network.nodes[i]); card.intersects(near)) grid.put(i, card);
    if (const auto found = placeWithin(grid, node, drawing.index.node(node.id), rings)) return *found;
  }
}

CardPlace freePlace(const CardGrid& grid, const Node& node, std::size_t own) {
  return *placeWithin(grid, node, own, std::numeric_limits<int>::max() - 1);
}

}  // namespace loom
