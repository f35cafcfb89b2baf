#include "widgets/canvas/wire_router.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>

#include <QRectF>

#include "widgets/document/card_geometry.h"

namespace loom {

namespace {

constexpr double kLanePitch = 10, kTightPitch = 4;
constexpr double kBesideCard = 8;   // a lane keeps this from a card
constexpr double kOverCard = 4;     // a track keeps this
constexpr double kFar = 1500;       // a lane further off than this is none
constexpr double kCell = 256;
constexpr std::array kTracks{14.0, 8.0, 20.0, 26.0, 32.0, 38.0, 44.0};

int cellOf(double at) { return static_cast<int>(std::floor(std::clamp(at / kCell, -1e8, 1e8))); }
std::uint64_t keyOf(int across, int along) { return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(across)) << 32) | static_cast<std::uint32_t>(along); }

std::vector<QPointF> withoutEmptyTurns(std::vector<QPointF> points) {
  for (std::size_t i = 1; i + 1 < points.size();) {
    const bool flat = points[i - 1].y() == points[i].y() && points[i].y() == points[i + 1].y();
    const bool steep = points[i - 1].x() == points[i].x() && points[i].x() == points[i + 1].x();
    if (flat || steep || points[i - 1] == points[i]) points.erase(points.begin() + static_cast<std::ptrdiff_t>(i));
    else ++i;
  }
  return points;
}

WirePiece pieceOf(QPointF a, QPointF b, std::size_t wire, bool& level) {
  level = a.y() == b.y();
  if (level) return {a.y(), std::min(a.x(), b.x()), std::max(a.x(), b.x()), wire};
  return {a.x(), std::min(a.y(), b.y()), std::max(a.y(), b.y()), wire};
}

}  // namespace

void PieceGrid::put(const WirePiece& piece, bool level) {
  for (int along = cellOf(piece.low); along <= cellOf(piece.high); ++along) (level ? m_level : m_upright)[keyOf(cellOf(piece.at), along)].push_back(piece);
}

void PieceGrid::take(const WirePiece& piece, bool level) {
  for (int along = cellOf(piece.low); along <= cellOf(piece.high); ++along) {
    auto& cell = (level ? m_level : m_upright)[keyOf(cellOf(piece.at), along)];
    const auto same = [&](const WirePiece& each) { return each.wire == piece.wire && each.at == piece.at && each.low == piece.low && each.high == piece.high; };
    if (const auto found = std::find_if(cell.begin(), cell.end(), same); found != cell.end()) cell.erase(found);
  }
}

// Those at most `reach` beside `at` that overlap with (low, high) along; a piece may be met twice.
template <class Visit>
bool PieceGrid::any(bool level, double at, double reach, double low, double high, Visit visit) const {
  const Cells& cells = level ? m_level : m_upright;
  for (int across = cellOf(at - reach); across <= cellOf(at + reach); ++across)
    for (int along = cellOf(low); along <= cellOf(high); ++along) {
      const auto found = cells.find(keyOf(across, along));
      if (found == cells.end()) continue;
      for (const WirePiece& piece : found->second)
        if (std::abs(piece.at - at) < reach && piece.high > low && piece.low < high && visit(piece)) return true;
    }
  return false;
}

// The search for one wire's way among the cards and the wires that chose before it.
class WayFinder {
 public:
  WayFinder(const WireRouter& router, WireRouter::Number wire, QRectF& looked)
      : m_router(router), m_source(router.m_wires[wire].ends.source), m_rank(router.rankOf(wire)), m_looked(looked) {}

  std::vector<QPointF> find(QPointF from, QPointF to) {
    see(QRectF(from, to).normalized());
    auto points = straight(from, to);
    if (!points) points = bent(from, to);
    if (!points && to.y() - from.y() < 30) {
      m_pitch = kTightPitch;
      points = bent(from, to);
      m_pitch = kLanePitch;
    }
    if (!points) points = aside(from, to);
    return withoutEmptyTurns(points ? std::move(*points) : through(from, to));
  }

 private:
  using Way = std::optional<std::vector<QPointF>>;

  void see(const QRectF& area) { m_looked = m_looked.united(area.adjusted(-16, -16, 16, 16)); }

  bool across(double y, double x1, double x2) {  // true: no card in the way
    const double low = std::min(x1, x2) - kBesideCard, high = std::max(x1, x2) + kBesideCard;
    const QRectF area(QPointF(low, y - kOverCard), QPointF(high, y + kOverCard));
    see(area);
    return !m_router.m_cards.any(area, [&](std::size_t, const QRectF& card) {
      return card.right() > low && card.left() < high && y > card.top() - kOverCard + 0.5 && y < card.bottom() + kOverCard - 0.5;
    });
  }
  bool down(double x, double y1, double y2) {
    const double low = std::min(y1, y2), high = std::max(y1, y2);
    const QRectF area(QPointF(x - kBesideCard, low - kOverCard), QPointF(x + kBesideCard, high + kOverCard));
    see(area);
    return !m_router.m_cards.any(area, [&](std::size_t, const QRectF& card) {
      return card.right() > x - kBesideCard && card.left() < x + kBesideCard && high > card.top() - kOverCard && low < card.bottom() + kOverCard;
    });
  }
  bool taken(bool level, double at, double a, double b) {
    return m_router.m_pieces.any(level, at, m_pitch - 1, std::min(a, b) - 2, std::max(a, b) + 2, [&](const WirePiece& other) {
      return m_router.m_wires[other.wire].ends.source != m_source && m_router.rankOf(other.wire) < m_rank;
    });
  }
  bool trackFree(double y, double x1, double x2) { return across(y, x1, x2) && !taken(true, y, x1, x2); }
  // The ends touch the pins' own cards, so they do not count.
  bool laneFree(double x, double y1, double y2) {
    if (std::abs(y2 - y1) < 12) return true;
    const double inset = y2 > y1 ? 5 : -5;
    return down(x, y1 + inset, y2 - inset) && !taken(false, x, y1 + inset, y2 - inset);
  }

  Way straight(QPointF from, QPointF to) {
    if (std::abs(from.x() - to.x()) > 0.5 || to.y() <= from.y() || !laneFree(from.x(), from.y(), to.y())) return std::nullopt;
    return std::vector{from, to};
  }

  // One track: down, across, down. Late where it can be, so that a wire stays with what it comes from.
  Way bent(QPointF from, QPointF to) {
    const double gap = to.y() - from.y();
    if (gap < 16) return std::nullopt;
    const auto tryAt = [&](double y) -> Way {
      if (y < from.y() + kOverCard || y > to.y() - kOverCard) return std::nullopt;
      if (!trackFree(y, from.x(), to.x()) || !laneFree(from.x(), from.y(), y) || !laneFree(to.x(), y, to.y())) return std::nullopt;
      return std::vector{from, QPointF(from.x(), y), QPointF(to.x(), y), to};
    };
    const double near = std::min(20.0, gap / 2);
    for (const double base : {to.y() - near, from.y() + near})
      for (int step = 0; step < 5; ++step)
        for (const double side : {-1.0, 1.0}) {
          if (auto found = tryAt(base + side * step * m_pitch)) return found;
          if (step == 0) break;
        }
    return std::nullopt;
  }

  // Two tracks and a lane between: beside the cards in the way, the nearest at their right before one at their left.
  Way aside(QPointF from, QPointF to) {
    std::vector<double> candidates;
    const double low = std::min(from.y(), to.y()) - 20, high = std::max(from.y(), to.y()) + 20;
    const QRectF band(QPointF(std::min(from.x(), to.x()) - kFar, low), QPointF(std::max(from.x(), to.x()) + kFar, high));
    std::set<std::pair<double, double>> columns;
    m_router.m_cards.any(band, [&](std::size_t, const QRectF& card) {
      if (card.bottom() >= low && card.top() <= high && card.right() > band.left() && card.left() < band.right()) columns.emplace(card.left(), card.right());
      return false;
    });
    const auto cost = [&](double x) {
      const double leftwards = x < std::min(from.x(), to.x()) ? 30 : 0;
      return std::abs(x - from.x()) + std::abs(x - to.x()) + leftwards;
    };
    for (const auto& [left, right] : columns)
      for (int lane = 0; lane < 6; ++lane) {
        candidates.push_back(right + 14 + lane * kLanePitch);
        candidates.push_back(left - 14 - lane * kLanePitch);
      }
    std::sort(candidates.begin(), candidates.end(), [&](double a, double b) { return std::pair(cost(a), a) < std::pair(cost(b), b); });
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    // A card nearer than the lane may make a nearer lane: the answer holds as long as none comes or goes up to there.
    const auto sawUpTo = [&](double x) {
      const double reach = cost(x) + 80;
      see(QRectF(QPointF(std::min({from.x(), to.x(), x}) - reach, low), QPointF(std::max({from.x(), to.x(), x}) + reach, high)).intersected(band.adjusted(-400, 0, 400, 0)));
    };
    const double last = kTracks.back();
    for (const double x : candidates) {
      // What stands in the middle of the lane bars it for every pair of tracks; looked at once, the lane may be long.
      const double top = from.y() + last + 5, bottom = to.y() - last - 5;
      const bool middle = bottom > top + 12;
      if (middle && (!down(x, top, bottom) || taken(false, x, top, bottom))) continue;
      const auto free = [&](double begins, double ends) {
        if (!middle) return laneFree(x, begins, ends);
        return down(x, begins + 5, top) && !taken(false, x, begins + 5, top) && down(x, bottom, ends - 5) && !taken(false, x, bottom, ends - 5);
      };
      for (const double above : kTracks) {
        const double begins = from.y() + above;
        if (!trackFree(begins, from.x(), x) || !laneFree(from.x(), from.y(), begins)) continue;
        for (const double below : kTracks) {
          const double ends = to.y() - below;
          if (!free(begins, ends) || !trackFree(ends, x, to.x()) || !laneFree(to.x(), ends, to.y())) continue;
          sawUpTo(x);
          return std::vector{from, QPointF(from.x(), begins), QPointF(x, begins), QPointF(x, ends), QPointF(to.x(), ends), to};
        }
      }
    }
    see(band);
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

  const WireRouter& m_router;
  std::uint32_t m_source;
  WireRouter::Rank m_rank;
  QRectF& m_looked;
  double m_pitch = kLanePitch;  // halved where rows stand close
};

void WireRouter::clear() {
  m_wires.clear();
  m_cards.clear();
  m_looked.clear();
  m_pieces = {};
  m_dirty.clear();
}

WireRouter::Rank WireRouter::rankOf(Number wire) const {
  const Wire& ends = m_wires[wire].ends;
  return {std::abs(ends.to.y() - ends.from.y()) + std::abs(ends.to.x() - ends.from.x()) / 4, ends.order, wire};
}

void WireRouter::dirty(const QRectF& area, const Rank& after) {
  m_looked.any(area, [&](std::size_t wire, const QRectF& looked) {
    if (looked.intersects(area))
      if (Rank rank = rankOf(wire); after < rank) m_dirty.insert(std::move(rank));
    return false;
  });
}

void WireRouter::setCard(Number card, const QRectF& rect) {
  const QRectF before = m_cards.rect(card);
  if (before == rect) return;
  constexpr Rank first{-1, 0, 0};
  if (!before.isNull()) dirty(before, first);
  dirty(rect, first);
  m_cards.put(card, rect);
}

void WireRouter::removeCard(Number card) {
  const QRectF before = m_cards.rect(card);
  if (before.isNull()) return;
  dirty(before, {-1, 0, 0});
  m_cards.take(card);
}

void WireRouter::draw(Number wire, bool drawn) {
  const std::vector<QPointF>& points = m_wires[wire].points;
  const Rank rank = rankOf(wire);
  for (std::size_t i = 1; i < points.size(); ++i) {
    bool level = false;
    const WirePiece piece = pieceOf(points[i - 1], points[i], wire, level);
    if (drawn) m_pieces.put(piece, level);
    else m_pieces.take(piece, level);
    dirty(QRectF(points[i - 1], points[i]).normalized().adjusted(-1, -1, 1, 1), rank);
  }
}

void WireRouter::setWire(Number wire, const Wire& set, bool touched) {
  if (wire >= m_wires.size()) m_wires.resize(wire + 1);
  Routed& routed = m_wires[wire];
  if (routed.there && !touched && routed.ends.from == set.from && routed.ends.to == set.to && routed.ends.source == set.source) {
    routed.ends.order = set.order;
    return;
  }
  const std::vector<QPointF> before = routed.points;
  if (routed.there) {
    m_dirty.erase(rankOf(wire));
    draw(wire, false);
    m_dirty.erase(rankOf(wire));
  }
  routed.points.clear();
  routed.ends = set;
  routed.there = true;
  m_dirty.insert(rankOf(wire));
}

void WireRouter::removeWire(Number wire) {
  if (wire >= m_wires.size() || !m_wires[wire].there) return;
  draw(wire, false);
  m_dirty.erase(rankOf(wire));
  m_looked.take(wire);
  m_wires[wire] = {};
}

bool WireRouter::choose(Number wire) {
  Routed& routed = m_wires[wire];
  if (!routed.there) return false;
  QRectF looked;
  std::vector<QPointF> points = WayFinder(*this, wire, looked).find(routed.ends.from, routed.ends.to);
  routed.looked = looked;
  m_looked.put(wire, looked);
  if (points == routed.points) return false;
  draw(wire, false);
  routed.points = std::move(points);
  draw(wire, true);
  return true;
}

std::vector<WireRouter::Number> WireRouter::route() {
  std::vector<Number> changed;
  while (!m_dirty.empty()) {
    const Number wire = std::get<Number>(*m_dirty.begin());
    m_dirty.erase(m_dirty.begin());
    if (choose(wire)) changed.push_back(wire);
  }
  return changed;
}

// In whatever order they choose: one that chose before a shorter one beside it is told by that one, and looks again.
std::vector<WireRouter::Number> WireRouter::route(const QRectF& seen, double milliseconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double, std::milli>(milliseconds));
  std::vector<Number> changed;
  const auto isSeen = [&](Number wire) {
    const Wire& ends = m_wires[wire].ends;
    return seen.isNull() || QRectF(ends.from, ends.to).normalized().adjusted(-40, -40, 40, 40).intersects(seen);
  };
  for (bool again = true; again;) {
    again = false;
    std::vector<Rank> wanted;
    for (const Rank& rank : m_dirty)
      if (isSeen(std::get<Number>(rank))) wanted.push_back(rank);
    for (const Rank& rank : wanted) {
      if (std::chrono::steady_clock::now() > end) return changed;
      if (m_dirty.erase(rank) == 0) continue;
      if (choose(std::get<Number>(rank))) changed.push_back(std::get<Number>(rank));
      again = true;
    }
  }
  return changed;
}

bool turnsRight(const std::vector<QPointF>& points) {
  return points.size() > 2 && points[1].y() - points[0].y() < 30 && points[2].x() > points[0].x();
}

WireLabel labelAt(Endpoint pin, QPointF at, bool left) { return {std::move(pin), at + QPointF(left ? -9 : 9, 11.8), left}; }

Routing routeWires(const Network& network) { return routeWires(Drawing{kNoUnits, network, NetworkIndex(network)}); }

Routing routeWires(const Drawing& drawing) {
  const Network& network = drawing.network;
  WireRouter router;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) router.setCard(i, cardRect(network.nodes[i]));
  std::map<Endpoint, std::uint32_t> sources;
  for (std::size_t i = 0; i < network.edges.size(); ++i) {
    const auto from = drawing.index.from(i);
    if (from == NetworkIndex::kNone || drawing.index.to(i) == NetworkIndex::kNone) continue;
    const Endpoint& pin = network.edges[i].from;
    const std::uint32_t source = sources.emplace(pin, static_cast<std::uint32_t>(sources.size())).first->second;
    router.setWire(i, {outputPin(drawing.project, network.nodes[from], pin.port), inputPin(drawing, i), source, static_cast<std::uint32_t>(i)});
  }
  Routing routing;
  routing.routes.resize(network.edges.size());
  std::map<Endpoint, bool> turns;
  for (const WireRouter::Number wire : router.route()) {
    routing.routes[wire].points = router.points(wire);
    bool& right = turns[network.edges[wire].from];
    right = right || turnsRight(router.points(wire));
  }
  for (const auto& [pin, right] : turns) routing.labels.push_back(labelAt(pin, outputPin(drawing.project, *drawing.find(pin.node), pin.port), right));
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
