#include "engine/network/network_index.h"

#include <algorithm>
#include <functional>
#include <queue>

namespace loom {
namespace {

using Position = NetworkIndex::Position;

void insertSorted(std::vector<Position>& list, Position value) {
  if (list.empty() || list.back() < value)
    list.push_back(value);
  else
    list.insert(std::lower_bound(list.begin(), list.end(), value), value);
}

void eraseSorted(std::vector<Position>& list, Position value) {
  const auto found = std::lower_bound(list.begin(), list.end(), value);
  if (found != list.end() && *found == value) list.erase(found);
}

// Where each of `count` old positions stands when new ones come at `at` (their places afterwards).
std::vector<Position> shiftedBy(std::size_t count, std::span<const std::size_t> at) {
  std::vector<Position> now(count);
  std::size_t next = 0, place = 0;
  for (std::size_t old = 0; old < count; ++old, ++place) {
    while (next < at.size() && at[next] == place) ++next, ++place;
    now[old] = static_cast<Position>(place);
  }
  return now;
}

// Where each old position stands when those at `at` have gone; theirs is kNone.
std::vector<Position> shiftedWithout(std::size_t count, std::span<const std::size_t> at) {
  std::vector<Position> now(count);
  std::size_t next = 0;
  for (std::size_t old = 0; old < count; ++old) {
    const bool gone = next < at.size() && at[next] == old;
    next += gone;
    now[old] = gone ? NetworkIndex::kNone : static_cast<Position>(old - next);
  }
  return now;
}

// `list` with room for what came at `at`.
template <class T>
std::vector<T> widened(std::vector<T> list, std::span<const std::size_t> at) {
  if (at.empty() || at.front() == list.size()) {
    list.resize(list.size() + at.size());
    return list;
  }
  std::vector<T> wide(list.size() + at.size());
  std::size_t next = 0, old = 0;
  for (std::size_t place = 0; place < wide.size(); ++place) {
    if (next < at.size() && at[next] == place)
      ++next;
    else
      wide[place] = std::move(list[old++]);
  }
  return wide;
}

template <class T>
void narrow(std::vector<T>& list, std::span<const std::size_t> at) {
  std::size_t next = 0, kept = 0;
  for (std::size_t old = 0; old < list.size(); ++old) {
    if (next < at.size() && at[next] == old) {
      ++next;
      continue;
    }
    if (kept != old) list[kept] = std::move(list[old]);
    ++kept;
  }
  list.resize(kept);
}

}  // namespace

void NetworkIndex::rebuild(const Network& network) {
  m_byId.clear();
  m_byId.reserve(network.nodes.size());
  m_ids.clear();
  m_ids.reserve(network.nodes.size());
  for (const Node& node : network.nodes) m_ids.push_back(node.id);
  m_links.assign(network.nodes.size(), {});
  m_ends.assign(network.edges.size(), {});
  m_loose = 0;
  m_twice = false;
  for (std::size_t i = 0; i < network.nodes.size(); ++i) m_twice |= !add(network, i);
  for (std::size_t i = 0; i < network.edges.size(); ++i) tie(network, i);
  changed();
}

bool NetworkIndex::add(const Network& network, std::size_t at) {
  m_ids[at] = network.nodes[at].id;
  if (node(m_ids[at]) != kNone) return false;
  m_byId.put(hash(m_ids[at]), static_cast<Position>(at));
  return true;
}

void NetworkIndex::tie(const Network& network, std::size_t wire) {
  const Edge& edge = network.edges[wire];
  Ends& ends = m_ends[wire];
  ends = {node(edge.from.node), node(edge.to.node)};
  if (ends.from != kNone) insertSorted(m_links[ends.from].out, static_cast<Position>(wire));
  if (ends.to != kNone) insertSorted(m_links[ends.to].in, static_cast<Position>(wire));
  m_loose += ends.from == kNone || ends.to == kNone;
}

void NetworkIndex::untie(std::size_t wire) {
  const Ends ends = m_ends[wire];
  if (ends.from != kNone) eraseSorted(m_links[ends.from].out, static_cast<Position>(wire));
  if (ends.to != kNone) eraseSorted(m_links[ends.to].in, static_cast<Position>(wire));
  m_loose -= ends.from == kNone || ends.to == kNone;
  m_ends[wire] = {};
}

void NetworkIndex::tieLoose(const Network& network) {
  if (m_loose == 0) return;
  for (std::size_t wire = 0; wire < m_ends.size(); ++wire) {
    if (m_ends[wire].from != kNone && m_ends[wire].to != kNone) continue;
    untie(wire);
    tie(network, wire);
  }
}

void NetworkIndex::nodesCame(const Network& network, std::span<const std::size_t> at) {
  if (m_twice) return rebuild(network);
  const std::size_t before = m_links.size();
  if (!at.empty() && at.front() < before) {
    const std::vector<Position> now = shiftedBy(before, at);
    m_byId.renumber([&](Position old) { return now[old]; });
    for (Ends& ends : m_ends) {
      if (ends.from != kNone) ends.from = now[ends.from];
      if (ends.to != kNone) ends.to = now[ends.to];
    }
  }
  m_links = widened(std::move(m_links), at);
  m_ids = widened(std::move(m_ids), at);
  for (const std::size_t place : at)
    if (!add(network, place)) return rebuild(network);
  tieLoose(network);
  changed();
}

void NetworkIndex::nodesWent(const Network& network, std::span<const std::size_t> at) {
  if (m_twice) return rebuild(network);
  if (at.empty()) return;
  // Wires that still name them hang loose from now on.
  for (const std::size_t place : at) {
    for (const Position wire : m_links[place].in) {
      m_loose += m_ends[wire].from != kNone;
      m_ends[wire].to = kNone;
    }
    for (const Position wire : m_links[place].out) {
      m_loose += m_ends[wire].to != kNone;
      m_ends[wire].from = kNone;
    }
  }
  const bool atTheEnd = at.front() + at.size() == m_links.size();
  const std::vector<Position> now = shiftedWithout(m_links.size(), at);
  m_byId.renumber([&](Position old) { return now[old]; });
  if (!atTheEnd)
    for (Ends& ends : m_ends) {
      if (ends.from != kNone) ends.from = now[ends.from];
      if (ends.to != kNone) ends.to = now[ends.to];
    }
  narrow(m_links, at);
  narrow(m_ids, at);
  changed();
}

void NetworkIndex::nodeRenamed(const Network& network, std::size_t at, const std::string& was) {
  if (m_twice) return rebuild(network);
  m_byId.take(hash(was), static_cast<Position>(at));
  if (!add(network, at)) return rebuild(network);
  std::vector<Position> wires = m_links[at].in;
  wires.insert(wires.end(), m_links[at].out.begin(), m_links[at].out.end());
  std::sort(wires.begin(), wires.end());
  wires.erase(std::unique(wires.begin(), wires.end()), wires.end());
  for (const Position wire : wires) {
    untie(wire);
    tie(network, wire);
  }
  tieLoose(network);
  changed();
}

void NetworkIndex::wiresCame(const Network& network, std::span<const std::size_t> at) {
  const std::size_t before = m_ends.size();
  if (!at.empty() && at.front() < before) {
    const std::vector<Position> now = shiftedBy(before, at);
    for (Links& links : m_links) {
      for (Position& wire : links.in) wire = now[wire];
      for (Position& wire : links.out) wire = now[wire];
    }
  }
  m_ends = widened(std::move(m_ends), at);
  for (const std::size_t place : at) tie(network, place);
  changed();
}

void NetworkIndex::wiresWent(std::span<const std::size_t> at) {
  if (at.empty()) return;
  for (const std::size_t place : at) untie(place);
  if (at.front() + at.size() < m_ends.size()) {
    const std::vector<Position> now = shiftedWithout(m_ends.size(), at);
    for (Links& links : m_links) {
      for (Position& wire : links.in) wire = now[wire];
      for (Position& wire : links.out) wire = now[wire];
    }
  }
  narrow(m_ends, at);
  changed();
}

void NetworkIndex::wireChanged(const Network& network, std::size_t at) {
  untie(at);
  tie(network, at);
  changed();
}

Position NetworkIndex::node(std::string_view id) const {
  return m_byId.find(hash(id), [&](Position at) { return m_ids[at] == id; });
}

Position NetworkIndex::wire(const Network& network, const Edge& edge) const {
  const Position to = node(edge.to.node), from = node(edge.from.node);
  if (to != kNone || from != kNone) {
    for (const Position wire : to != kNone ? m_links[to].in : m_links[from].out)
      if (network.edges[wire] == edge) return wire;
    return kNone;
  }
  for (std::size_t wire = 0; m_loose > 0 && wire < m_ends.size(); ++wire)
    if (network.edges[wire] == edge) return static_cast<Position>(wire);
  return kNone;
}

template <bool kForward>
std::vector<char> NetworkIndex::cone(Position start, std::size_t without) const {
  std::vector<char> seen(m_links.size(), 0);
  std::vector<Position> open{start};
  seen[start] = 1;
  while (!open.empty()) {
    const Position here = open.back();
    open.pop_back();
    for (const Position wire : kForward ? m_links[here].out : m_links[here].in) {
      const Position next = kForward ? m_ends[wire].to : m_ends[wire].from;
      if (wire == without || next == kNone || seen[next]) continue;
      seen[next] = 1;
      open.push_back(next);
    }
  }
  return seen;
}

std::vector<char> NetworkIndex::behind(Position node, std::size_t without) const {
  return cone<true>(node, without);
}
std::vector<char> NetworkIndex::before(Position node, std::size_t without) const {
  return cone<false>(node, without);
}

std::vector<Position> NetworkIndex::downstream(Position node) const {
  std::vector<char> seen(m_links.size(), 0);
  std::vector<Position> found{node};
  seen[node] = 1;
  for (std::size_t next = 0; next < found.size(); ++next)
    for (const Position wire : m_links[found[next]].out) {
      const Position to = m_ends[wire].to;
      if (to == kNone || seen[to]) continue;
      seen[to] = 1;
      found.push_back(to);
    }
  found.erase(found.begin());
  return found;
}

std::vector<Position> NetworkIndex::way(Position from, Position to, std::size_t without) const {
  std::vector<Position> cameFrom(m_links.size(), kNone), open{from}, path;
  cameFrom[from] = from;
  for (std::size_t next = 0; next < open.size() && cameFrom[to] == kNone; ++next)
    for (const Position wire : m_links[open[next]].out) {
      const Position other = m_ends[wire].to;
      if (wire == without || other == kNone || cameFrom[other] != kNone) continue;
      cameFrom[other] = open[next];
      open.push_back(other);
    }
  if (cameFrom[to] == kNone) return path;
  for (Position at = to; at != from; at = cameFrom[at]) path.push_back(at);
  path.push_back(from);
  std::reverse(path.begin(), path.end());
  return path;
}

const std::vector<Position>& NetworkIndex::order() const {
  if (m_ordered) return m_order;
  m_ordered = true;
  m_order.clear();
  m_order.reserve(m_links.size());
  std::vector<Position> waiting(m_links.size(), 0);
  for (const Ends& ends : m_ends)
    if (ends.from != kNone && ends.to != kNone) ++waiting[ends.to];
  std::priority_queue<Position, std::vector<Position>, std::greater<>> ready;
  for (std::size_t i = 0; i < waiting.size(); ++i)
    if (waiting[i] == 0) ready.push(static_cast<Position>(i));
  while (!ready.empty()) {
    const Position here = ready.top();
    ready.pop();
    m_order.push_back(here);
    for (const Position wire : m_links[here].out)
      if (const Position to = m_ends[wire].to; to != kNone && --waiting[to] == 0) ready.push(to);
  }
  return m_order;
}

bool NetworkIndex::operator==(const NetworkIndex& other) const {
  const auto sameName = [&](const std::string& id) { return node(id) == other.node(id); };
  return m_ids == other.m_ids && m_byId.size() == other.m_byId.size() &&
         std::all_of(m_ids.begin(), m_ids.end(), sameName) && m_links == other.m_links && m_ends == other.m_ends &&
         m_loose == other.m_loose && order() == other.order();
}

}  // namespace loom
