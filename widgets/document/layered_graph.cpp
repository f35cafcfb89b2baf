#include "widgets/document/layered_graph.h"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>

#include "widgets/document/card_geometry.h"

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

// Longest path from the top; then what only feeds something further down (a label, what is made of it) moves down to it.
void rank(LayeredGraph& graph) {
  const auto in = graph.above(), out = graph.below();
  const std::vector<int> order = topological(graph);
  const auto at = [&](int vertex) -> LayeredVertex& { return graph.vertices[static_cast<std::size_t>(vertex)]; };
  for (const int vertex : order)
    for (const int edge : in[static_cast<std::size_t>(vertex)])
      at(vertex).rank = std::max(at(vertex).rank, at(graph.edges[static_cast<std::size_t>(edge)].from).rank + 1);
  // True when everything upstream of `vertex` leads nowhere else.
  const auto alone = [&](int vertex) {
    std::vector<int> cone{vertex};
    for (std::size_t next = 0; next < cone.size(); ++next)
      for (const int edge : in[static_cast<std::size_t>(cone[next])]) {
        const int up = graph.edges[static_cast<std::size_t>(edge)].from;
        if (std::find(cone.begin(), cone.end(), up) == cone.end()) cone.push_back(up);
      }
    return std::all_of(cone.begin(), cone.end(), [&](int each) {
      if (each == vertex) return true;
      const auto& leads = out[static_cast<std::size_t>(each)];
      return std::all_of(leads.begin(), leads.end(), [&](int edge) {
        return std::find(cone.begin(), cone.end(), graph.edges[static_cast<std::size_t>(edge)].to) != cone.end();
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
        graph.vertices.push_back({{}, rank, 0, 0});
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
  for (std::size_t i = 0; i < edges.size(); ++i) found[static_cast<std::size_t>(edges[i].to)].push_back(static_cast<int>(i));
  return found;
}

std::vector<std::vector<int>> LayeredGraph::below() const {
  std::vector<std::vector<int>> found(vertices.size());
  for (std::size_t i = 0; i < edges.size(); ++i) found[static_cast<std::size_t>(edges[i].from)].push_back(static_cast<int>(i));
  return found;
}

std::vector<LayeredGraph> layeredParts(const Network& network) {
  std::map<std::string, int> index;
  for (const Node& node : network.nodes) index.emplace(node.id, static_cast<int>(index.size()));
  std::vector<int> part(index.size());
  std::iota(part.begin(), part.end(), 0);
  const std::function<int(int)> top = [&](int i) {
    while (part[static_cast<std::size_t>(i)] != i) i = part[static_cast<std::size_t>(i)] = part[static_cast<std::size_t>(part[static_cast<std::size_t>(i)])];
    return i;
  };
  for (const Edge& edge : network.edges) {
    const auto from = index.find(edge.from.node), to = index.find(edge.to.node);
    if (from != index.end() && to != index.end())
      part[static_cast<std::size_t>(std::max(top(from->second), top(to->second)))] = std::min(top(from->second), top(to->second));
  }
  std::map<int, LayeredGraph> graphs;  // by the first node in the file
  std::map<std::string, int> vertexOf;
  for (const Node& node : network.nodes) {
    if (vertexOf.contains(node.id)) continue;
    LayeredGraph& graph = graphs[top(index[node.id])];
    vertexOf[node.id] = static_cast<int>(graph.vertices.size());
    graph.vertices.push_back({node.id, 0, cardWidth(node), 0});
  }
  for (std::size_t i = 0; i < network.edges.size(); ++i) {
    const Edge& edge = network.edges[i];
    const Node *from = network.find(edge.from.node), *to = network.find(edge.to.node);
    if (from == nullptr || to == nullptr || from == to) continue;
    graphs[top(index[from->id])].edges.push_back({vertexOf[from->id], vertexOf[to->id],
                                                  outputPin(*from, edge.from.port).x() - from->x,
                                                  inputPin(network, *to, i).x() - to->x});
  }
  std::vector<LayeredGraph> parts;
  for (auto& [first, graph] : graphs) {
    dropLoops(graph);
    rank(graph);
    splitLongEdges(graph);
    orderLayers(graph);
    parts.push_back(std::move(graph));
  }
  return parts;
}

}  // namespace loom
