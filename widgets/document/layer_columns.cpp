// Columns after U. Brandes and B. Köpf, "Fast and simple horizontal coordinate assignment" (2002): four alignments,
// each leaning to one corner, and of the four answers the mean of the middle two. Blocks are placed as longest paths.
#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "widgets/document/layered_graph.h"

namespace loom {

namespace {

constexpr double kBesideCard = 48;  // air between two cards: a lane and its shape fit in
constexpr double kBesideLane = 24;  // between a card and a passing wire
constexpr double kBetweenLanes = 12;

double apart(const LayeredVertex& a, const LayeredVertex& b) {
  const double air = a.bend() && b.bend() ? kBetweenLanes : a.bend() || b.bend() ? kBesideLane : kBesideCard;
  return (a.width + b.width) / 2 + air;
}

using Layers = std::vector<std::vector<int>>;
using Pairs = std::set<std::pair<int, int>>;

// Wires between cards give way to those between bend points, so that lanes stay straight (type 1 conflicts).
Pairs conflicts(const LayeredGraph& graph) {
  std::vector<int> place(graph.vertices.size(), 0);
  for (const auto& layer : graph.layers)
    for (std::size_t i = 0; i < layer.size(); ++i) place[static_cast<std::size_t>(layer[i])] = static_cast<int>(i);
  const auto inner = [&](const LayeredEdge& edge) {
    return graph.vertices[static_cast<std::size_t>(edge.from)].bend() &&
           graph.vertices[static_cast<std::size_t>(edge.to)].bend();
  };
  std::vector<std::vector<const LayeredEdge*>> byRank(graph.layers.size());
  for (const LayeredEdge& edge : graph.edges)
    byRank[static_cast<std::size_t>(graph.vertices[static_cast<std::size_t>(edge.from)].rank)].push_back(&edge);
  Pairs found;
  for (const auto& edges : byRank)
    for (const LayeredEdge* lane : edges) {
      if (!inner(*lane)) continue;
      for (const LayeredEdge* other : edges) {
        if (inner(*other)) continue;
        const int top = place[static_cast<std::size_t>(other->from)] - place[static_cast<std::size_t>(lane->from)];
        const int bottom = place[static_cast<std::size_t>(other->to)] - place[static_cast<std::size_t>(lane->to)];
        if ((top < 0 && bottom > 0) || (top > 0 && bottom < 0)) found.emplace(other->from, other->to);
      }
    }
  return found;
}

struct Blocks {
  std::vector<int> root, next;
};

// `layers` already turned so that this alignment looks up and leans left; `near[v]` are the neighbours in the layer
// before.
Blocks align(const Layers& layers, const std::vector<std::vector<int>>& near, const Pairs& conflict, bool turned) {
  const std::size_t count = near.size();
  Blocks blocks{std::vector<int>(count), std::vector<int>(count)};
  std::vector<int> place(count, 0);
  for (std::size_t i = 0; i < count; ++i) blocks.root[i] = blocks.next[i] = static_cast<int>(i);
  for (const auto& layer : layers)
    for (std::size_t i = 0; i < layer.size(); ++i) place[static_cast<std::size_t>(layer[i])] = static_cast<int>(i);
  for (std::size_t l = 1; l < layers.size(); ++l) {
    int last = -1;
    for (const int vertex : layers[l]) {
      std::vector<int> ordered = near[static_cast<std::size_t>(vertex)];
      if (ordered.empty()) continue;
      std::sort(ordered.begin(), ordered.end(),
                [&](int a, int b) { return place[static_cast<std::size_t>(a)] < place[static_cast<std::size_t>(b)]; });
      for (const std::size_t middle : {(ordered.size() - 1) / 2, ordered.size() / 2}) {
        if (blocks.next[static_cast<std::size_t>(vertex)] != vertex) break;
        const int up = ordered[middle];
        const bool barred = conflict.contains(turned ? std::pair{vertex, up} : std::pair{up, vertex});
        if (barred || place[static_cast<std::size_t>(up)] <= last) continue;
        blocks.next[static_cast<std::size_t>(up)] = vertex;
        blocks.root[static_cast<std::size_t>(vertex)] = blocks.root[static_cast<std::size_t>(up)];
        blocks.next[static_cast<std::size_t>(vertex)] = blocks.root[static_cast<std::size_t>(vertex)];
        last = place[static_cast<std::size_t>(up)];
      }
    }
  }
  return blocks;
}

std::vector<double> compact(const LayeredGraph& graph, const Layers& layers, const Blocks& blocks) {
  const std::size_t count = graph.vertices.size();
  std::vector<std::vector<std::pair<int, double>>> right(count), left(count);
  std::vector<int> waiting(count, 0);
  for (const auto& layer : layers)
    for (std::size_t i = 1; i < layer.size(); ++i) {
      const int a = blocks.root[static_cast<std::size_t>(layer[i - 1])],
                b = blocks.root[static_cast<std::size_t>(layer[i])];
      const double gap = apart(graph.vertices[static_cast<std::size_t>(layer[i - 1])],
                               graph.vertices[static_cast<std::size_t>(layer[i])]);
      right[static_cast<std::size_t>(a)].emplace_back(b, gap);
      left[static_cast<std::size_t>(b)].emplace_back(a, gap);
      ++waiting[static_cast<std::size_t>(b)];
    }
  std::vector<int> order;
  for (std::size_t i = 0; i < count; ++i)
    if (blocks.root[i] == static_cast<int>(i) && waiting[i] == 0) order.push_back(static_cast<int>(i));
  std::vector<double> x(count, 0);
  for (std::size_t next = 0; next < order.size(); ++next) {
    const auto here = static_cast<std::size_t>(order[next]);
    for (const auto& [other, gap] : left[here]) x[here] = std::max(x[here], x[static_cast<std::size_t>(other)] + gap);
    for (const auto& [other, gap] : right[here])
      if (--waiting[static_cast<std::size_t>(other)] == 0) order.push_back(other);
  }
  // Blocks that only something at their right holds move towards it.
  for (auto block = order.rbegin(); block != order.rend(); ++block) {
    const auto here = static_cast<std::size_t>(*block);
    double most = std::numeric_limits<double>::max();
    for (const auto& [other, gap] : right[here]) most = std::min(most, x[static_cast<std::size_t>(other)] - gap);
    if (most != std::numeric_limits<double>::max()) x[here] = std::max(x[here], most);
  }
  for (std::size_t i = 0; i < count; ++i) x[i] = x[static_cast<std::size_t>(blocks.root[i])];
  return x;
}

}  // namespace

void assignColumns(LayeredGraph& graph) {
  const std::size_t count = graph.vertices.size();
  const Pairs conflict = conflicts(graph);
  // A card stands over cards rather than over passing wires: the trunk stays straight where something branches off.
  const auto bend = [&](int vertex) { return graph.vertices[static_cast<std::size_t>(vertex)].bend(); };
  std::vector<bool> cardAbove(count, false), cardBelow(count, false);
  for (const LayeredEdge& edge : graph.edges) {
    if (!bend(edge.from)) cardAbove[static_cast<std::size_t>(edge.to)] = true;
    if (!bend(edge.to)) cardBelow[static_cast<std::size_t>(edge.from)] = true;
  }
  std::vector<std::vector<int>> up(count), down(count);
  for (const LayeredEdge& edge : graph.edges) {
    const bool fromLane = bend(edge.from) && !bend(edge.to) && cardAbove[static_cast<std::size_t>(edge.to)];
    const bool toLane = bend(edge.to) && !bend(edge.from) && cardBelow[static_cast<std::size_t>(edge.from)];
    if (fromLane || toLane) continue;
    up[static_cast<std::size_t>(edge.to)].push_back(edge.from);
    down[static_cast<std::size_t>(edge.from)].push_back(edge.to);
  }
  std::array<std::vector<double>, 4> answers;
  for (int corner = 0; corner < 4; ++corner) {
    const bool turned = corner >= 2, mirrored = corner % 2 == 1;
    Layers layers = graph.layers;
    if (turned) std::reverse(layers.begin(), layers.end());
    if (mirrored)
      for (auto& layer : layers) std::reverse(layer.begin(), layer.end());
    std::vector<double> x = compact(graph, layers, align(layers, turned ? down : up, conflict, turned));
    if (mirrored)
      for (double& value : x) value = -value;
    answers[static_cast<std::size_t>(corner)] = std::move(x);
  }
  // All four stand on the narrowest: those that lean left by their left edge, the others by their right.
  const auto span = [&](const std::vector<double>& x) {
    double low = std::numeric_limits<double>::max(), high = std::numeric_limits<double>::lowest();
    for (std::size_t i = 0; i < count; ++i) {
      low = std::min(low, x[i] - graph.vertices[i].width / 2);
      high = std::max(high, x[i] + graph.vertices[i].width / 2);
    }
    return std::pair{low, high};
  };
  const auto narrowest = *std::min_element(answers.begin(), answers.end(), [&](const auto& a, const auto& b) {
    const auto [al, ah] = span(a);
    const auto [bl, bh] = span(b);
    return ah - al < bh - bl;
  });
  const auto [low, high] = span(narrowest);
  for (int corner = 0; corner < 4; ++corner) {
    std::vector<double>& x = answers[static_cast<std::size_t>(corner)];
    const auto [l, h] = span(x);
    const double shift = corner % 2 == 0 ? low - l : high - h;
    for (double& value : x) value += shift;
  }
  for (std::size_t i = 0; i < count; ++i) {
    std::array<double, 4> four{answers[0][i], answers[1][i], answers[2][i], answers[3][i]};
    std::sort(four.begin(), four.end());
    graph.vertices[i].x = (four[1] + four[2]) / 2;
  }
}

}  // namespace loom
