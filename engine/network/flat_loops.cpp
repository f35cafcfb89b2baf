// Loops written out: what stands between RecurrentInput and RecurrentOutput once for each step, with the weights of the
// first.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/catalogue/text.h"
#include "engine/network/flattener.h"

namespace loom {
namespace {

constexpr const char* kLoopInput = "RecurrentInput";
constexpr const char* kLoopOutput = "RecurrentOutput";
constexpr const char* kDelay = "Delay";
constexpr int kDeepestLoops = 8;

using LoopWires = std::vector<std::vector<std::size_t>>;  // by node: the edges that end there

// How many loops stand around each node, by what leads to it: a RecurrentInput opens one, a RecurrentOutput closes it.
// A Delay stands where that stands which it carries.
struct LoopDepth {
  std::vector<int> outside, inside;  // of what leads to a node, and of what it gives
  bool isEndless = false;            // a RecurrentInput whose own result leads to it again
};

LoopDepth loopDepth(const FlatNetwork& flat, const LoopWires& into, const std::vector<std::ptrdiff_t>& from,
                    const std::vector<char>& settled) {
  const auto& nodes = flat.network.nodes;
  LoopDepth depth{std::vector<int>(nodes.size(), 0), std::vector<int>(nodes.size(), 0)};
  std::vector<std::vector<std::size_t>> readers(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const std::size_t e : into[i])
      if (from[e] >= 0 && !(nodes[i].layer == kDelay && flat.network.edges[e].to.port == "initial"))
        readers[static_cast<std::size_t>(from[e])].push_back(i);
  std::vector<std::size_t> open(nodes.size());
  std::iota(open.rbegin(), open.rend(), std::size_t{0});
  while (!open.empty()) {
    const std::size_t i = open.back();
    open.pop_back();
    const bool counts = !settled[i];
    const int inside = counts && nodes[i].layer == kLoopInput    ? depth.outside[i] + 1
                       : counts && nodes[i].layer == kLoopOutput ? std::max(depth.outside[i] - 1, 0)
                                                                 : depth.outside[i];
    if (inside > kDeepestLoops) {
      depth.isEndless = true;
      return depth;
    }
    depth.inside[i] = inside;
    for (const std::size_t reader : readers[i])
      if (depth.outside[reader] < inside) {
        depth.outside[reader] = inside;
        open.push_back(reader);
      }
  }
  return depth;
}

// Of a step of the outermost loop, and of one that stands in another: a copy of both has both behind its id.
std::string stepId(const std::string& id, int pass, std::int64_t step) {
  return pass == 0 ? fmt::format("{}/step{}", id, step) : fmt::format("{}/step{}_{}", id, pass + 1, step);
}

std::size_t loopOf(std::vector<std::size_t>& parents, std::size_t node) {
  while (parents[node] != node) node = parents[node] = parents[parents[node]];
  return node;
}

}  // namespace

bool isLoopLayer(std::string_view layer) {
  return layer == kLoopInput || layer == kLoopOutput || layer == kDelay;
}

void Flattener::unrollLoops() {
  const auto& nodes = m_flat.network.nodes;
  if (std::none_of(nodes.begin(), nodes.end(), [](const Node& node) { return isLoopLayer(node.layer); })) return;
  std::vector<char> settled(nodes.size(), 0);
  for (int pass = 0; pass < kDeepestLoops; ++pass)
    if (!unrollOutermost(settled, pass)) return;
}

bool Flattener::unrollOutermost(std::vector<char>& settled, int pass) {
  Network& network = m_flat.network;
  const std::size_t count = network.nodes.size();
  std::unordered_map<std::string_view, std::size_t> byId;
  for (std::size_t i = 0; i < count; ++i) byId.emplace(network.nodes[i].id, i);
  const auto nodeOf = [&](const std::string& id) {
    const auto found = byId.find(id);
    return found == byId.end() ? std::ptrdiff_t{-1} : static_cast<std::ptrdiff_t>(found->second);
  };
  LoopWires into(count);
  std::vector<std::ptrdiff_t> from(network.edges.size()), to(network.edges.size());
  for (std::size_t e = 0; e < network.edges.size(); ++e) {
    from[e] = nodeOf(network.edges[e].from.node);
    to[e] = nodeOf(network.edges[e].to.node);
    if (to[e] >= 0) into[static_cast<std::size_t>(to[e])].push_back(e);
  }
  const LoopDepth depth = loopDepth(m_flat, into, from, settled);
  const auto tellAt = [&](std::size_t i, const std::string& field, const std::string& message) {
    const DrawnNode& origin = m_flat.origins[i];
    if (origin.drawing) tell(origin.use, origin->id, field, fmt::format("{}: {}", clipped(origin->id), message));
  };
  if (depth.isEndless) {
    for (std::size_t i = 0; i < count; ++i)
      if (network.nodes[i].layer == kLoopInput && depth.outside[i] > 0) {
        tellAt(i, "",
               "what it gives leads back to it, so that its loop stands in itself; a Delay carries a value to the next "
               "step");
        break;
      }
    return false;
  }
  const auto isInside = [&](std::size_t i) {
    return depth.inside[i] > 0 || (depth.outside[i] > 0 && network.nodes[i].layer != kLoopOutput);
  };
  const auto ends = [&](std::size_t i) {
    return !settled[i] && network.nodes[i].layer == kLoopOutput && depth.outside[i] == 1;
  };
  const auto carries = [&](std::size_t i) {
    return !settled[i] && network.nodes[i].layer == kDelay && depth.inside[i] == 1;
  };
  // Nodes of one loop hang together by wires inside of it.
  std::vector<std::size_t> parents(count);
  std::iota(parents.begin(), parents.end(), std::size_t{0});
  for (std::size_t e = 0; e < network.edges.size(); ++e) {
    if (from[e] < 0 || to[e] < 0) continue;
    const auto a = static_cast<std::size_t>(from[e]), b = static_cast<std::size_t>(to[e]);
    if (isInside(a) && (isInside(b) || ends(b))) parents[loopOf(parents, a)] = loopOf(parents, b);
  }
  std::map<std::size_t, std::int64_t> turns;  // by loop; 0: it cannot be written out
  for (std::size_t i = 0; i < count; ++i) {
    if (settled[i] || network.nodes[i].layer != kLoopInput || depth.inside[i] != 1) continue;
    const Json length = network.nodes[i].values.value("length", Json(1));
    const bool isNumber = length.is_number_integer() && length >= 1 && length <= kMostRepeats;
    if (length.is_string())
      tellAt(i, "length",
             "how often the loop runs must be known before shapes are: a number, or an expression over arguments");
    const auto [known, isNew] = turns.emplace(loopOf(parents, i), isNumber ? length.get<std::int64_t>() : 0);
    if (!isNew && isNumber && known->second > 0 && known->second != length)
      tellAt(i, "length",
             fmt::format("'length' is {}, but another RecurrentInput of the same loop has {}", length.dump(),
                         known->second));
    if (!isNumber) known->second = 0;
  }
  if (pass == 0)
    for (std::size_t i = 0; i < count; ++i) {
      if (network.nodes[i].layer == kDelay && depth.inside[i] == 0)
        tellAt(i, "", "it stands in no loop: it is for what lies between RecurrentInput and RecurrentOutput");
      if (network.nodes[i].layer == kLoopOutput && depth.outside[i] == 0)
        tellAt(i, "", "it ends a loop, but no RecurrentInput before it begins one");
      if (network.nodes[i].layer == kDelay && std::none_of(into[i].begin(), into[i].end(), [&](std::size_t e) {
            return network.edges[e].to.port == "input";
          }))
        tellAt(i, "", "nothing is wired to input, so that there is nothing to carry to the next step");
    }
  std::size_t more = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (const auto found = turns.find(loopOf(parents, i)); found != turns.end() && (isInside(i) || ends(i)))
      more += static_cast<std::size_t>(found->second);
  if (more == 0) return false;
  if (count + more > kMostFlatNodes) {
    for (std::size_t i = 0; i < count; ++i)
      if (network.nodes[i].layer == kLoopInput && depth.inside[i] == 1 && !settled[i]) {
        tellAt(i, "length", fmt::format("its loop makes more than {} layers when it is written out", kMostFlatNodes));
        break;
      }
    return false;
  }

  // The first copy is the node itself; fields that wait for shapes wait in each copy.
  std::vector<std::vector<std::size_t>> waiting(count);
  for (std::size_t p = 0; p < m_pending.size(); ++p) waiting[m_pending[p].flat].push_back(p);
  std::vector<std::vector<std::size_t>> copies(count);  // empty: it stands outside
  std::vector<char> ended(count, 0);  // the RecurrentOutputs: their copies give what they put together
  network.nodes.reserve(count + more);
  const auto copied = [&](std::size_t i, std::string id) {
    Node copy = network.nodes[i];
    copy.id = std::move(id);
    const std::size_t place = network.nodes.size();
    network.nodes.push_back(std::move(copy));
    m_flat.origins.push_back(m_flat.origins[i]);
    settled.push_back(settled[i]);
    for (const std::size_t p : waiting[i]) m_pending.push_back({place, m_pending[p].key});
    return place;
  };
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = turns.find(loopOf(parents, i));
    if (found == turns.end() || found->second == 0 || !(isInside(i) || ends(i))) continue;
    const bool isEnd = ends(i), isOurs = isEnd || carries(i) ||
                                         (!settled[i] && network.nodes[i].layer == kLoopInput && depth.inside[i] == 1);
    if (isOurs) settled[i] = 1;
    const std::string id = network.nodes[i].id, scope = network.nodes[i].shares.empty() ? id : network.nodes[i].shares;
    if (isEnd) ended[i] = 1;
    if (!isEnd) copies[i].push_back(i);
    if (isEnd && found->second == 1) {
      copies[i].push_back(i);
      continue;
    }
    for (std::int64_t k = isEnd ? 0 : 1; k < found->second; ++k) {
      const std::size_t copy = copied(i, stepId(id, pass, k));
      if (!isEnd) network.nodes[copy].shares = scope;
      if (isOurs && network.nodes[i].layer == kLoopInput) network.nodes[copy].values["turn"] = k;
      copies[i].push_back(copy);
    }
    if (isEnd) network.nodes[i].layer = "Concatenate";
  }

  std::vector<Edge> edges;
  std::vector<std::size_t> drawn;
  const auto add = [&](std::size_t e, Endpoint source, Endpoint target) {
    edges.push_back({std::move(source), std::move(target)});
    drawn.push_back(m_flat.edges[e]);
  };
  for (std::size_t e = 0; e < network.edges.size(); ++e) {
    const Edge& edge = network.edges[e];
    const auto target = static_cast<std::size_t>(std::max<std::ptrdiff_t>(to[e], 0));
    if (to[e] < 0 || copies[target].empty()) {
      add(e, edge.from, edge.to);
      continue;
    }
    // Of what stands in the same loop the copy of a turn; of what stands outside, the result of a loop included,
    // itself.
    const auto source = [&](std::size_t turn) {
      const auto node = static_cast<std::size_t>(std::max<std::ptrdiff_t>(from[e], 0));
      if (from[e] < 0 || copies[node].empty() || ended[node]) return edge.from;
      return Endpoint{network.nodes[copies[node][std::min(turn, copies[node].size() - 1)]].id, edge.from.port};
    };
    const bool isDelay = settled[target] && network.nodes[target].layer == kDelay && depth.inside[target] == 1;
    if (isDelay && edge.to.port == "initial") {
      add(e, source(0), {network.nodes[target].id, "input"});
      continue;
    }
    for (std::size_t k = isDelay ? 1 : 0; k < copies[target].size(); ++k)
      add(e, source(isDelay ? k - 1 : k), {network.nodes[copies[target][k]].id, edge.to.port});
    if (ended[target] && copies[target][0] != target)
      for (const std::size_t copy : copies[target])
        add(e, {network.nodes[copy].id, "output"}, {network.nodes[target].id, "input"});
  }
  network.edges = std::move(edges);
  m_flat.edges = std::move(drawn);
  return true;
}

}  // namespace loom
