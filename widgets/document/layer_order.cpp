// Order within the layers: begin with the longest way at the left, then sweep by barycentres and keep the fewest
// crossings.
#include <algorithm>
#include <limits>

#include "widgets/document/layered_graph.h"

namespace loom {

namespace {

constexpr int kSweeps = 12;

// Where an end of an edge stands in its layer: place of the vertex, and a fraction for the pin.
double standing(const LayeredGraph& graph, const std::vector<int>& place, int vertex, double pin) {
  const double width = std::max(1.0, graph.vertices[static_cast<std::size_t>(vertex)].width);
  return place[static_cast<std::size_t>(vertex)] + 0.9 * pin / width;
}

std::vector<int> placesOf(const LayeredGraph& graph) {
  std::vector<int> place(graph.vertices.size(), 0);
  for (const auto& layer : graph.layers)
    for (std::size_t i = 0; i < layer.size(); ++i) place[static_cast<std::size_t>(layer[i])] = static_cast<int>(i);
  return place;
}

// Wires that cross between neighbouring layers: inversions, counted while merging (Barth, Mutzel, Jünger 2004 give the
// bound).
long inversions(std::vector<double>& list, std::vector<double>& scratch, std::size_t from, std::size_t to) {
  if (to - from < 2) return 0;
  const std::size_t middle = (from + to) / 2;
  long count = inversions(list, scratch, from, middle) + inversions(list, scratch, middle, to);
  std::size_t left = from, right = middle, at = from;
  while (left < middle || right < to) {
    if (right == to || (left < middle && list[left] <= list[right])) {
      scratch[at++] = list[left++];
    } else {
      count += static_cast<long>(middle - left);
      scratch[at++] = list[right++];
    }
  }
  std::copy(scratch.begin() + static_cast<std::ptrdiff_t>(from), scratch.begin() + static_cast<std::ptrdiff_t>(to),
            list.begin() + static_cast<std::ptrdiff_t>(from));
  return count;
}

long crossings(const LayeredGraph& graph) {
  const std::vector<int> place = placesOf(graph);
  std::vector<std::vector<std::pair<double, double>>> byRank(graph.layers.size());
  for (const LayeredEdge& edge : graph.edges)
    byRank[static_cast<std::size_t>(graph.vertices[static_cast<std::size_t>(edge.from)].rank)].emplace_back(
        standing(graph, place, edge.from, edge.fromPin), standing(graph, place, edge.to, edge.toPin));
  long count = 0;
  std::vector<double> ends, scratch;
  for (auto& edges : byRank) {
    if (edges.size() < 2) continue;
    std::sort(edges.begin(), edges.end());  // of one beginning by their ends: those do not cross
    ends.clear();
    for (const auto& edge : edges) ends.push_back(edge.second);
    scratch.resize(ends.size());
    count += inversions(ends, scratch, 0, ends.size());
  }
  return count;
}

// Depth first along the longest way, so the trunk of a network stands left of what branches off.
void initialOrder(LayeredGraph& graph) {
  const auto in = graph.above(), out = graph.below();
  const std::size_t count = graph.vertices.size();
  std::vector<int> length(count, 0), byRank(count);
  for (std::size_t i = 0; i < count; ++i) byRank[i] = static_cast<int>(i);
  std::stable_sort(byRank.begin(), byRank.end(), [&](int a, int b) {
    return graph.vertices[static_cast<std::size_t>(a)].rank > graph.vertices[static_cast<std::size_t>(b)].rank;
  });
  // A way counts its cards, not its bend points: the branch with work in it is the trunk.
  for (const int vertex : byRank)
    for (const int edge : out[static_cast<std::size_t>(vertex)]) {
      const int to = graph.edges[static_cast<std::size_t>(edge)].to;
      const int own = graph.vertices[static_cast<std::size_t>(to)].bend() ? 0 : 1;
      length[static_cast<std::size_t>(vertex)] =
          std::max(length[static_cast<std::size_t>(vertex)], length[static_cast<std::size_t>(to)] + own);
    }
  int ranks = 0;
  for (const LayeredVertex& vertex : graph.vertices) ranks = std::max(ranks, vertex.rank + 1);
  graph.layers.assign(static_cast<std::size_t>(ranks), {});
  std::vector<bool> seen(count, false);
  std::vector<int> starts;
  for (std::size_t i = 0; i < count; ++i)
    if (in[i].empty()) starts.push_back(static_cast<int>(i));
  std::stable_sort(starts.begin(), starts.end(), [&](int a, int b) {
    return length[static_cast<std::size_t>(a)] > length[static_cast<std::size_t>(b)];
  });
  for (auto start = starts.begin(); start != starts.end(); ++start) {
    std::vector<int> stack{*start};
    while (!stack.empty()) {
      const int vertex = stack.back();
      stack.pop_back();
      if (seen[static_cast<std::size_t>(vertex)]) continue;
      seen[static_cast<std::size_t>(vertex)] = true;
      graph.layers[static_cast<std::size_t>(graph.vertices[static_cast<std::size_t>(vertex)].rank)].push_back(vertex);
      std::vector<int> next;
      for (const int edge : out[static_cast<std::size_t>(vertex)])
        next.push_back(graph.edges[static_cast<std::size_t>(edge)].to);
      std::stable_sort(next.begin(), next.end(), [&](int a, int b) {
        return length[static_cast<std::size_t>(a)] > length[static_cast<std::size_t>(b)];
      });
      stack.insert(stack.end(), next.rbegin(), next.rend());
    }
  }
}

// `place` follows the layers.
void sweep(LayeredGraph& graph, bool down, const std::vector<std::vector<int>>& in,
           const std::vector<std::vector<int>>& out, std::vector<int>& place) {
  const int ranks = static_cast<int>(graph.layers.size());
  std::vector<std::pair<double, int>> keyed;
  for (int step = 1; step < ranks; ++step) {
    auto& layer = graph.layers[static_cast<std::size_t>(down ? step : ranks - 1 - step)];
    if (layer.size() < 2) continue;
    keyed.clear();
    for (const int vertex : layer) {
      double sum = 0;
      int count = 0;
      for (const int e : (down ? in : out)[static_cast<std::size_t>(vertex)]) {
        const LayeredEdge& edge = graph.edges[static_cast<std::size_t>(e)];
        sum += down ? standing(graph, place, edge.from, edge.fromPin) - edge.toPin * 0.001
                    : standing(graph, place, edge.to, edge.toPin) - edge.fromPin * 0.001;
        ++count;
      }
      keyed.emplace_back(count == 0 ? place[static_cast<std::size_t>(vertex)] : sum / count, vertex);
    }
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < keyed.size(); ++i) {
      layer[i] = keyed[i].second;
      place[static_cast<std::size_t>(layer[i])] = static_cast<int>(i);
    }
  }
}

}  // namespace

bool orderLayers(LayeredGraph& graph, const std::atomic<bool>* cancelled) {
  initialOrder(graph);
  const auto in = graph.above(), out = graph.below();
  auto best = graph.layers;
  std::vector<int> place = placesOf(graph);
  long fewest = crossings(graph);
  for (int i = 0; i < kSweeps && fewest > 0; ++i) {
    if (cancelled != nullptr && *cancelled) return false;
    sweep(graph, i % 2 == 0, in, out, place);
    const long now = crossings(graph);
    if (now >= fewest) continue;
    fewest = now;
    best = graph.layers;
  }
  graph.layers = std::move(best);
  return true;
}

}  // namespace loom
