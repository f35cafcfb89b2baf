#include "widgets/document/layered_graph.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace loom {

namespace {

// Edges that close a loop are left out: a drawing with a fault is arranged too.
void dropLoops(LayeredGraph& graph) {
  enum class Mark { fresh, open, done };
  std::vector<Mark> marks(graph.vertices.size(), Mark::fresh);
  std::vector<bool> backward(graph.edges.size(), false);
  const auto out = graph.below();
  for (std::size_t start = 0; start < graph.vertices.size(); ++start) {
    if (marks[start] != Mark::fresh) continue;
    std::vector<std::pair<int, std::size_t>> stack{{static_cast<int>(start), 0}};
    marks[start] = Mark::open;
    while (!stack.empty()) {
      auto& [vertex, next] = stack.back();
      if (next == out[static_cast<std::size_t>(vertex)].size()) {
        marks[static_cast<std::size_t>(vertex)] = Mark::done;
        stack.pop_back();
        continue;
      }
      const int edge = out[static_cast<std::size_t>(vertex)][next++];
      const int to = graph.edges[static_cast<std::size_t>(edge)].to;
      if (marks[static_cast<std::size_t>(to)] == Mark::open) backward[static_cast<std::size_t>(edge)] = true;
      if (marks[static_cast<std::size_t>(to)] != Mark::fresh) continue;
      marks[static_cast<std::size_t>(to)] = Mark::open;
      stack.emplace_back(to, 0);
    }
  }
  std::vector<LayeredEdge> kept;
  for (std::size_t i = 0; i < graph.edges.size(); ++i)
    if (!backward[i]) kept.push_back(graph.edges[i]);
  graph.edges = std::move(kept);
}

std::vector<int> topological(const LayeredGraph& graph) {
  const auto out = graph.below();
  std::vector<int> waiting(graph.vertices.size(), 0), order;
  for (const LayeredEdge& edge : graph.edges) ++waiting[static_cast<std::size_t>(edge.to)];
  for (std::size_t i = 0; i < waiting.size(); ++i)
    if (waiting[i] == 0) order.push_back(static_cast<int>(i));
  for (std::size_t next = 0; next < order.size(); ++next)
    for (const int edge : out[static_cast<std::size_t>(order[next])])
      if (--waiting[static_cast<std::size_t>(graph.edges[static_cast<std::size_t>(edge)].to)] == 0)
        order.push_back(graph.edges[static_cast<std::size_t>(edge)].to);
  return order;
}

// Longest path from the top; then what only feeds something further down (a label, what is made of it) moves down to
// it.
void rank(LayeredGraph& graph) {
  const auto in = graph.above(), out = graph.below();
  const std::vector<int> order = topological(graph);
  const auto at = [&](int vertex) -> LayeredVertex& { return graph.vertices[static_cast<std::size_t>(vertex)]; };
  for (const int vertex : order)
    for (const int edge : in[static_cast<std::size_t>(vertex)])
      at(vertex).rank = std::max(at(vertex).rank, at(graph.edges[static_cast<std::size_t>(edge)].from).rank + 1);
  // True when everything upstream of `vertex` leads nowhere else. What has more upstream than this is no label on its
  // way to a loss.
  constexpr std::size_t kMost = 64;
  std::vector<int> met(graph.vertices.size(), -1);
  const auto alone = [&](int vertex) {
    std::vector<int> cone{vertex};
    met[static_cast<std::size_t>(vertex)] = vertex;
    for (std::size_t next = 0; next < cone.size(); ++next)
      for (const int edge : in[static_cast<std::size_t>(cone[next])]) {
        const int up = graph.edges[static_cast<std::size_t>(edge)].from;
        if (std::exchange(met[static_cast<std::size_t>(up)], vertex) != vertex) cone.push_back(up);
        if (cone.size() > kMost) return false;
      }
    return std::all_of(cone.begin(), cone.end(), [&](int each) {
      if (each == vertex) return true;
      const auto& leads = out[static_cast<std::size_t>(each)];
      return std::all_of(leads.begin(), leads.end(), [&](int edge) {
        return met[static_cast<std::size_t>(graph.edges[static_cast<std::size_t>(edge)].to)] == vertex;
      });
    });
  };
  for (auto vertex = order.rbegin(); vertex != order.rend(); ++vertex) {
    const auto& leads = out[static_cast<std::size_t>(*vertex)];
    if (leads.empty()) continue;
    int least = std::numeric_limits<int>::max();
    for (const int edge : leads) least = std::min(least, at(graph.edges[static_cast<std::size_t>(edge)].to).rank);
    if (least - 1 > at(*vertex).rank && alone(*vertex)) at(*vertex).rank = least - 1;
  }
}

void splitLongEdges(LayeredGraph& graph) {
  std::vector<LayeredEdge> edges;
  // Wires of one pin share their bend points: they run as one lane until they part.
  std::map<std::pair<int, double>, std::map<int, int>> lanes;
  for (const LayeredEdge& edge : graph.edges) {
    const int last = graph.vertices[static_cast<std::size_t>(edge.to)].rank;
    int here = edge.from;
    double pin = edge.fromPin;
    auto& lane = lanes[{edge.from, edge.fromPin}];
    for (int rank = graph.vertices[static_cast<std::size_t>(edge.from)].rank + 1; rank < last; ++rank) {
      const auto found = lane.find(rank);
      const int bend = found != lane.end() ? found->second : static_cast<int>(graph.vertices.size());
      if (found == lane.end()) {
        lane[rank] = bend;
        graph.vertices.push_back({-1, rank, 0, 0});
        edges.push_back({here, bend, pin, 0});
      }
      here = bend;
      pin = 0;
    }
    edges.push_back({here, edge.to, pin, edge.toPin});
  }
  graph.edges = std::move(edges);
}

}  // namespace

std::vector<std::vector<int>> LayeredGraph::above() const {
  std::vector<std::vector<int>> found(vertices.size());
  for (std::size_t i = 0; i < edges.size(); ++i)
    found[static_cast<std::size_t>(edges[i].to)].push_back(static_cast<int>(i));
  return found;
}

std::vector<std::vector<int>> LayeredGraph::below() const {
  std::vector<std::vector<int>> found(vertices.size());
  for (std::size_t i = 0; i < edges.size(); ++i)
    found[static_cast<std::size_t>(edges[i].from)].push_back(static_cast<int>(i));
  return found;
}

std::vector<LayeredGraph> layeredParts(const ArrangeTask& task) {
  std::vector<int> part(task.cards.size());
  std::iota(part.begin(), part.end(), 0);
  const auto top = [&](int i) {
    while (part[static_cast<std::size_t>(i)] != i)
      i = part[static_cast<std::size_t>(i)] = part[static_cast<std::size_t>(part[static_cast<std::size_t>(i)])];
    return i;
  };
  for (const ArrangeTask::Wire& wire : task.wires) {
    const int from = top(wire.from), to = top(wire.to);
    part[static_cast<std::size_t>(std::max(from, to))] = std::min(from, to);
  }
  std::vector<LayeredGraph> parts;  // in the order of their first cards
  std::vector<int> numberOf(task.cards.size(), -1), vertexOf(task.cards.size());
  const auto graphOf = [&](std::size_t card) -> LayeredGraph& {
    int& number = numberOf[static_cast<std::size_t>(top(static_cast<int>(card)))];
    if (number < 0) {
      number = static_cast<int>(parts.size());
      parts.emplace_back();
    }
    return parts[static_cast<std::size_t>(number)];
  };
  for (std::size_t i = 0; i < task.cards.size(); ++i) {
    LayeredGraph& graph = graphOf(i);
    vertexOf[i] = static_cast<int>(graph.vertices.size());
    graph.vertices.push_back({static_cast<int>(i), 0, task.cards[i].width, 0});
  }
  for (const ArrangeTask::Wire& wire : task.wires)
    graphOf(static_cast<std::size_t>(wire.from))
        .edges.push_back({vertexOf[static_cast<std::size_t>(wire.from)], vertexOf[static_cast<std::size_t>(wire.to)],
                          wire.fromPin, wire.toPin});
  for (LayeredGraph& graph : parts) {
    dropLoops(graph);
    rank(graph);
    splitLongEdges(graph);
  }
  return parts;
}

}  // namespace loom
