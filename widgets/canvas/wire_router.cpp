#include "widgets/canvas/wire_router.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>

#include <QRectF>

#include "widgets/document/card_geometry.h"

namespace loom {

namespace {

constexpr double kLanePitch = 10, kTightPitch = 4;
constexpr double kBesideCard = 8;   // a lane keeps this from a card
constexpr double kOverCard = 4;     // a track keeps this
constexpr std::array kTracks{14.0, 8.0, 20.0, 26.0, 32.0, 38.0, 44.0};

struct Segment {
  double at;         // y of a track, x of a lane
  double low, high;  // along it
  int source;        // wires of one output pin may lie on each other
};

struct Router {
  std::vector<QRectF> cards;
  std::vector<Segment> tracks, lanes;
  double pitch = kLanePitch;  // halved where rows stand close

  bool across(double y, double x1, double x2) const {  // true: no card in the way
    const double low = std::min(x1, x2) - kBesideCard, high = std::max(x1, x2) + kBesideCard;
    return std::none_of(cards.begin(), cards.end(), [&](const QRectF& card) {
      return card.right() > low && card.left() < high && y > card.top() - kOverCard + 0.5 && y < card.bottom() + kOverCard - 0.5;
    });
  }
  bool down(double x, double y1, double y2) const {
    const double low = std::min(y1, y2), high = std::max(y1, y2);
    return std::none_of(cards.begin(), cards.end(), [&](const QRectF& card) {
      return card.right() > x - kBesideCard && card.left() < x + kBesideCard && high > card.top() - kOverCard && low < card.bottom() + kOverCard;
    });
  }
  bool taken(const std::vector<Segment>& segments, double at, double a, double b, int source) const {
    const double low = std::min(a, b) - 2, high = std::max(a, b) + 2;
    return std::any_of(segments.begin(), segments.end(), [&](const Segment& other) {
      return other.source != source && std::abs(other.at - at) < pitch - 1 && other.high > low && other.low < high;
    });
  }
  bool trackFree(double y, double x1, double x2, int source) const { return across(y, x1, x2) && !taken(tracks, y, x1, x2, source); }
  // The ends touch the pins' own cards, so they do not count.
  bool laneFree(double x, double y1, double y2, int source) const {
    if (std::abs(y2 - y1) < 12) return true;
    const double inset = y2 > y1 ? 5 : -5;
    return down(x, y1 + inset, y2 - inset) && !taken(lanes, x, y1 + inset, y2 - inset, source);
  }
  void keep(const std::vector<QPointF>& points, int source) {
    for (std::size_t i = 1; i < points.size(); ++i) {
      const QPointF a = points[i - 1], b = points[i];
      if (a.y() == b.y()) tracks.push_back({a.y(), std::min(a.x(), b.x()), std::max(a.x(), b.x()), source});
      else lanes.push_back({a.x(), std::min(a.y(), b.y()), std::max(a.y(), b.y()), source});
    }
  }

  std::optional<std::vector<QPointF>> straight(QPointF from, QPointF to, int source) const {
    if (std::abs(from.x() - to.x()) > 0.5 || to.y() <= from.y() || !laneFree(from.x(), from.y(), to.y(), source)) return std::nullopt;
    return std::vector{from, to};
  }

  // One track: down, across, down. Late where it can be, so that a wire stays with what it comes from.
  std::optional<std::vector<QPointF>> bent(QPointF from, QPointF to, int source) const {
    const double gap = to.y() - from.y();
    if (gap < 16) return std::nullopt;
    const auto tryAt = [&](double y) -> std::optional<std::vector<QPointF>> {
      if (y < from.y() + kOverCard || y > to.y() - kOverCard) return std::nullopt;
      if (!trackFree(y, from.x(), to.x(), source) || !laneFree(from.x(), from.y(), y, source) || !laneFree(to.x(), y, to.y(), source))
        return std::nullopt;
      return std::vector{from, QPointF(from.x(), y), QPointF(to.x(), y), to};
    };
    const double near = std::min(20.0, gap / 2);
    for (const double base : {to.y() - near, from.y() + near})
      for (int step = 0; step < 5; ++step)
        for (const double side : {-1.0, 1.0}) {
          if (auto found = tryAt(base + side * step * pitch)) return found;
          if (step == 0) break;
        }
    return std::nullopt;
  }

  // Two tracks and a lane between: beside the cards in the way, the nearest at their right before one at their left.
  std::optional<std::vector<QPointF>> aside(QPointF from, QPointF to, int source) const {
    std::vector<double> candidates;
    const double low = std::min(from.y(), to.y()) - 20, high = std::max(from.y(), to.y()) + 20;
    const auto add = [&](double edge, double direction) {
      for (int lane = 0; lane < 6; ++lane) candidates.push_back(edge + direction * (14 + lane * kLanePitch));
    };
    for (const QRectF& card : cards) {
      if (card.bottom() < low || card.top() > high) continue;
      add(card.right(), 1);
      add(card.left(), -1);
    }
    const auto cost = [&](double x) {
      const double leftwards = x < std::min(from.x(), to.x()) ? 30 : 0;
      return std::abs(x - from.x()) + std::abs(x - to.x()) + leftwards;
    };
    std::sort(candidates.begin(), candidates.end(), [&](double a, double b) { return cost(a) < cost(b); });
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    for (const double x : candidates)
      for (const double above : kTracks) {
        const double top = from.y() + above;
        if (!trackFree(top, from.x(), x, source) || !laneFree(from.x(), from.y(), top, source)) continue;
        for (const double below : kTracks) {
          const double bottom = to.y() - below;
          if (!laneFree(x, top, bottom, source) || !trackFree(bottom, x, to.x(), source) || !laneFree(to.x(), bottom, to.y(), source)) continue;
          return std::vector{from, QPointF(from.x(), top), QPointF(x, top), QPointF(x, bottom), QPointF(to.x(), bottom), to};
        }
      }
    return std::nullopt;
  }

  // Cards so close that nothing is free: the shortest way, over whatever lies there.
  static std::vector<QPointF> through(QPointF from, QPointF to) {
    if (to.y() > from.y()) {
      const double middle = (from.y() + to.y()) / 2;
      return {from, {from.x(), middle}, {to.x(), middle}, to};
    }
    const double x = std::max(from.x(), to.x()) + kWideCardWidth / 2 + 14;
    return {from, {from.x(), from.y() + 8}, {x, from.y() + 8}, {x, to.y() - 8}, {to.x(), to.y() - 8}, to};
  }
};

std::vector<QPointF> withoutEmptyTurns(std::vector<QPointF> points) {
  for (std::size_t i = 1; i + 1 < points.size();) {
    const bool flat = points[i - 1].y() == points[i].y() && points[i].y() == points[i + 1].y();
    const bool steep = points[i - 1].x() == points[i].x() && points[i].x() == points[i + 1].x();
    if (flat || steep || points[i - 1] == points[i]) points.erase(points.begin() + static_cast<std::ptrdiff_t>(i));
    else ++i;
  }
  return points;
}

}  // namespace

Routing routeWires(const Network& drawn, const std::map<std::string, QPointF>& moved) {
  Network copy;  // only where something is being dragged
  if (!moved.empty()) {
    copy = drawn;
    for (const auto& [id, place] : moved)
      if (Node* node = copy.find(id)) {
        node->x = place.x();
        node->y = place.y();
      }
  }
  const Network& network = moved.empty() ? drawn : copy;
  Router router;
  for (const Node& node : network.nodes) router.cards.push_back(cardRect(node));

  struct Wire {
    std::size_t edge;
    QPointF from, to;
    int source;
  };
  std::vector<Wire> wires;
  std::map<Endpoint, int> sources;
  for (std::size_t i = 0; i < network.edges.size(); ++i) {
    const Edge& edge = network.edges[i];
    const Node *from = network.find(edge.from.node), *to = network.find(edge.to.node);
    if (from == nullptr || to == nullptr) continue;
    const int source = sources.emplace(edge.from, static_cast<int>(sources.size())).first->second;
    wires.push_back({i, outputPin(*from, edge.from.port), inputPin(network, *to, i), source});
  }
  // Short ones first: they have the least choice.
  std::stable_sort(wires.begin(), wires.end(), [](const Wire& a, const Wire& b) {
    const auto length = [](const Wire& wire) { return std::abs(wire.to.y() - wire.from.y()) + std::abs(wire.to.x() - wire.from.x()) / 4; };
    return length(a) < length(b);
  });
  Routing routing;
  routing.routes.resize(network.edges.size());
  std::map<Endpoint, std::pair<bool, bool>> turns;  // leaves to the left, to the right
  for (const Wire& wire : wires) {
    auto points = router.straight(wire.from, wire.to, wire.source);
    if (!points) points = router.bent(wire.from, wire.to, wire.source);
    if (!points && wire.to.y() - wire.from.y() < 30) {
      router.pitch = kTightPitch;
      points = router.bent(wire.from, wire.to, wire.source);
      router.pitch = kLanePitch;
    }
    if (!points) points = router.aside(wire.from, wire.to, wire.source);
    if (!points) points = Router::through(wire.from, wire.to);
    *points = withoutEmptyTurns(std::move(*points));
    router.keep(*points, wire.source);
    auto& turn = turns[network.edges[wire.edge].from];
    const bool soon = points->size() > 2 && (*points)[1].y() - wire.from.y() < 30;
    if (soon && (*points)[2].x() > wire.from.x()) turn.second = true;
    if (soon && (*points)[2].x() < wire.from.x()) turn.first = true;
    routing.routes[wire.edge].points = std::move(*points);
  }
  for (const auto& [pin, turn] : turns) {
    const Node* node = network.find(pin.node);
    const QPointF at = outputPin(*node, pin.port);
    const bool left = turn.second;
    routing.labels.push_back({pin, at + QPointF(left ? -9 : 9, 11.8), left});
  }
  return routing;
}

QPainterPath roundedPath(const std::vector<QPointF>& points, double radius) {
  QPainterPath path;
  if (points.empty()) return path;
  path.moveTo(points.front());
  for (std::size_t i = 1; i + 1 < points.size(); ++i) {
    const QPointF in = points[i] - points[i - 1], out = points[i + 1] - points[i];
    const double a = std::hypot(in.x(), in.y()), b = std::hypot(out.x(), out.y());
    const double r = std::min({radius, a / 2, b / 2});
    if (r < 0.5) {
      path.lineTo(points[i]);
      continue;
    }
    path.lineTo(points[i] - in * (r / a));
    path.quadTo(points[i], points[i] + out * (r / b));
  }
  path.lineTo(points.back());
  return path;
}

}  // namespace loom
