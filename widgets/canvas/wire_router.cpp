#include "widgets/canvas/wire_router.h"

#include <QRectF>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "widgets/canvas/way_finder.h"
#include "widgets/document/card_geometry.h"

namespace loom {

namespace {

WirePiece pieceOf(QPointF a, QPointF b, std::size_t wire, bool& level) {
  level = a.y() == b.y();
  if (level) return {a.y(), std::min(a.x(), b.x()), std::max(a.x(), b.x()), wire};
  return {a.x(), std::min(a.y(), b.y()), std::max(a.y(), b.y()), wire};
}

}  // namespace

void WireRouter::clear() {
  m_wires.clear();
  m_cards.clear();
  m_looked.clear();
  m_pieces = {};
  m_dirty.clear();
  m_freed.clear();
  ++m_changes;
}

WireRouter::Rank WireRouter::rankOf(Number wire) const {
  const Wire& ends = m_wires[wire].ends;
  return {std::abs(ends.to.y() - ends.from.y()) + std::abs(ends.to.x() - ends.from.x()) / 4, ends.order, wire};
}

void WireRouter::wait(Number wire) {
  if (!m_wires[wire].waits) m_dirty.insert(rankOf(wire));
  m_wires[wire].waits = true;
}

void WireRouter::waitNoMore(Number wire) {
  if (m_wires[wire].waits) m_dirty.erase(rankOf(wire));
  m_wires[wire].waits = false;
}

void WireRouter::dirty(const QRectF& area, const Rank& after) {
  ++m_changes;
  m_looked.any(area, [&](std::size_t wire, const QRectF& looked) {
    if (!m_wires[wire].waits && looked.intersects(area) && after < rankOf(wire)) wait(wire);
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

void WireRouter::draw(Number wire, bool drawn, Tell tell) {
  const std::vector<QPointF>& points = m_wires[wire].points;
  const Rank rank = rankOf(wire);
  for (std::size_t i = 1; i < points.size(); ++i) {
    bool level = false;
    const WirePiece piece = pieceOf(points[i - 1], points[i], wire, level);
    if (drawn)
      m_pieces.put(piece, level);
    else
      m_pieces.take(piece, level);
    const QRectF area = QRectF(points[i - 1], points[i]).normalized().adjusted(-1, -1, 1, 1);
    if (tell == Tell::now)
      dirty(area, rank);
    else
      m_freed.push_back({area, std::get<double>(rank)});
  }
  ++m_changes;
}

void WireRouter::tellFreed(const QRectF& seen, const Time* end) {
  std::vector<Freed> others;
  std::size_t next = 0;
  for (; next < m_freed.size(); ++next) {
    if (end != nullptr && next % 16 == 15 && std::chrono::steady_clock::now() > *end) break;
    const Freed& freed = m_freed[next];
    // Of equally long ones all look again: which of them came first is not known any more.
    if (seen.isNull() || freed.area.intersects(seen))
      dirty(freed.area, {freed.length, 0, 0});
    else
      others.push_back(freed);
  }
  others.insert(others.end(), m_freed.begin() + static_cast<std::ptrdiff_t>(next), m_freed.end());
  m_freed = std::move(others);
}

void WireRouter::setWire(Number wire, const Wire& set, bool touched) {
  if (wire >= m_wires.size()) m_wires.resize(wire + 1);
  Routed& routed = m_wires[wire];
  if (routed.there && !touched && routed.ends.from == set.from && routed.ends.to == set.to &&
      routed.ends.source == set.source) {
    setOrder(wire, set.order);
    return;
  }
  if (routed.there) {
    waitNoMore(wire);
    draw(wire, false, Tell::later);
  }
  routed.points.clear();
  routed.ends = set;
  routed.there = true;
  ++m_changes;
  wait(wire);
}

void WireRouter::setOrder(Number wire, std::uint32_t order) {
  if (wire >= m_wires.size() || m_wires[wire].ends.order == order) return;
  const bool waited = m_wires[wire].waits;
  waitNoMore(wire);
  m_wires[wire].ends.order = order;
  if (waited) wait(wire);
}

void WireRouter::removeWire(Number wire) {
  if (wire >= m_wires.size() || !m_wires[wire].there) return;
  draw(wire, false, Tell::later);
  waitNoMore(wire);
  m_looked.take(wire);
  m_wires[wire] = {};
}

WireRouter::Chosen WireRouter::choose(Number wire, const Time* end) {
  Routed& routed = m_wires[wire];
  if (!routed.there) return Chosen::same;
  const bool goesOn = m_paused.next > 0 && m_paused.wire == wire && m_paused.of == m_changes;
  QRectF looked = goesOn ? m_paused.looked : QRectF();
  WayFinder finder(*this, wire, looked, goesOn ? m_paused.next : 0, end);
  std::optional<std::vector<QPointF>> points = finder.find(routed.ends.from, routed.ends.to);
  if (!points) {
    m_paused = {wire, finder.next(), looked, m_changes};
    wait(wire);
    return Chosen::notYet;
  }
  routed.looked = looked;
  m_looked.put(wire, looked);
  if (*points == routed.points) return Chosen::same;
  draw(wire, false, Tell::now);
  routed.points = std::move(*points);
  draw(wire, true, Tell::now);
  return Chosen::other;
}

std::vector<WireRouter::Number> WireRouter::route() {
  std::vector<Number> changed;
  tellFreed({});
  while (!m_dirty.empty()) {
    const Number wire = std::get<Number>(*m_dirty.begin());
    waitNoMore(wire);
    if (choose(wire) == Chosen::other) changed.push_back(wire);
  }
  return changed;
}

// In whatever order they choose: one that chose before a shorter one beside it is told by that one, and looks again.
std::vector<WireRouter::Number> WireRouter::route(const QRectF& seen, double milliseconds) {
  const Time end = std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                          std::chrono::duration<double, std::milli>(milliseconds));
  std::vector<Number> changed;
  tellFreed(seen, seen.isNull() ? &end : nullptr);
  if (seen.isNull() && !m_freed.empty()) return changed;
  const auto isSeen = [&](Number wire) {
    const Wire& ends = m_wires[wire].ends;
    return seen.isNull() || QRectF(ends.from, ends.to).normalized().adjusted(-40, -40, 40, 40).intersects(seen);
  };
  for (bool again = true; again;) {
    again = false;
    std::vector<Number> wanted;
    for (const Rank& rank : m_dirty)
      if (isSeen(std::get<Number>(rank))) wanted.push_back(std::get<Number>(rank));
    for (const Number wire : wanted) {
      if (again && std::chrono::steady_clock::now() > end) return changed;
      if (!m_wires[wire].waits) continue;
      waitNoMore(wire);
      again = true;
      switch (choose(wire, &end)) {
        case Chosen::same:
          break;
        case Chosen::other:
          changed.push_back(wire);
          break;
        case Chosen::notYet:
          return changed;
      }
    }
  }
  return changed;
}

bool turnsRight(const std::vector<QPointF>& points) {
  return points.size() > 2 && points[1].y() - points[0].y() < 30 && points[2].x() > points[0].x();
}

WireLabel labelAt(Endpoint pin, QPointF at, bool left) {
  return {std::move(pin), at + QPointF(left ? -9 : 9, 11.8), left};
}

Routing routeWires(const Network& network) {
  return routeWires(Drawing{kNoUnits, network, NetworkIndex(network)});
}

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
    router.setWire(i, {outputPin(drawing.project, network.nodes[from], pin.port), inputPin(drawing, i), source,
                       static_cast<std::uint32_t>(i)});
  }
  Routing routing;
  routing.routes.resize(network.edges.size());
  std::map<Endpoint, bool> turns;
  for (const WireRouter::Number wire : router.route()) {
    routing.routes[wire].points = router.points(wire);
    bool& right = turns[network.edges[wire].from];
    right = right || turnsRight(router.points(wire));
  }
  for (const auto& [pin, right] : turns)
    routing.labels.push_back(labelAt(pin, outputPin(drawing.project, *drawing.find(pin.node), pin.port), right));
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
