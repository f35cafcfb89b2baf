// A sum over shards whose order of additions is a tree over the shards' numbers and nothing else: node [low, high) =
// node [low, mid) + node [mid, high). A rank adds what lies whole in its shards; an all-to-all brings each rank a part
// of all ranks' nodes, it adds them in the tree's order, and an all-gather spreads the sums. So any number of ranks
// gives the same bits.
#include <algorithm>

#include "engine/comm/communicator.h"
#include "engine/comm/reductions/collectives.h"
#include "engine/comm/reductions/messages.h"
#include "engine/comm/reductions/scattered.h"

namespace loom {
namespace {

struct Node {
  int low = 0, high = 0;
  bool operator==(const Node&) const = default;
  int mid() const { return (low + high) / 2; }
};

// By rank: the largest nodes that lie whole in its shards, in ascending order.
using Cover = std::vector<std::vector<Node>>;

void coverWith(Cover& cover, Node node, const ReductionShape& shape) {
  const auto owner = [&](int shard) {  // the inverse of where a rank's shards begin
    return static_cast<int>(((shard + std::int64_t{1}) * shape.ranks - 1) / shape.shards);
  };
  if (const int rank = owner(node.low); rank == owner(node.high - 1)) {
    cover[static_cast<std::size_t>(rank)].push_back(node);
    return;
  }
  coverWith(cover, {node.low, node.mid()}, shape);
  coverWith(cover, {node.mid(), node.high}, shape);
}

Cover coverOf(const ReductionShape& shape) {
  Cover cover(static_cast<std::size_t>(shape.ranks));
  coverWith(cover, {0, shape.shards}, shape);
  return cover;
}

std::size_t mostNodes(const Cover& cover) {
  std::size_t most = 0;
  for (const auto& nodes : cover) most = std::max(most, nodes.size());
  return most;
}

class Tree final : public Reduction, public Scattering {
 public:
  Tree(Communicator& ranks, const ReductionShape& most)
      : m_ranks(ranks), m_shards(most.shards), m_cover(coverOf(most)), m_mostNodes(mostNodes(m_cover)) {
    const auto size = static_cast<std::size_t>(ranks.size());
    const std::size_t all =
        size == 1 ? most.floats : size * m_mostNodes * (padded(most.floats, ranks.size()) / size + 1);
    m_sent.resize(all);
    if (size > 1) m_received.resize(all);
  }

  bool addsShards() const override { return true; }

  void scatter(OwnedParts parts) override {
    if (m_ranks.size() == 1) return;
    m_parts = std::move(parts);
    m_sent.assign(m_mostNodes * (m_parts.all() + static_cast<std::size_t>(m_ranks.size())), 0.0f);
    m_received.resize(static_cast<std::size_t>(m_ranks.size()) * m_mostNodes * (m_parts.of(m_ranks.rank()) + 1));
  }

  // Whole nodes go to where they are sent from; of the others halves wait for their neighbours.
  void add(int shard, TensorSpans values, std::span<float>) override {
    closeBefore(shard);
    if (m_open.size() == m_depth) m_open.emplace_back();
    Open& leaf = m_open[m_depth++];
    leaf.node = {shard, shard + 1};
    leaf.sum.clear();
    for (const std::span<float> tensor : values) leaf.sum.insert(leaf.sum.end(), tensor.begin(), tensor.end());
  }

  void finish(std::span<float> sum) override {
    closeBefore(m_shards);
    if (m_ranks.size() == 1) {
      std::copy_n(m_sent.begin(), sum.size(), sum.begin());
      return;
    }
    if (!m_parts.empty()) return finishOwn(sum);
    const auto ranks = static_cast<std::size_t>(m_ranks.size());
    const std::size_t part = partOf(sum.size()), block = part + 1, all = ranks * m_mostNodes * block;
    const std::span<float> sent = std::span(m_sent).first(all), received = std::span(m_received).first(all);
    m_ranks.allToAll(std::as_bytes(sent), std::as_writable_bytes(received));
    const std::span<float> mine = sent.first(part);  // sent: free again
    combine({0, m_shards}, mine, 0);
    const std::span<float> gathered = received.first(ranks * part);
    m_ranks.allGather(std::as_bytes(mine), std::as_writable_bytes(gathered));
    std::copy_n(gathered.begin(), sum.size(), sum.begin());
    std::fill(sent.begin(), sent.end(), 0.0f);  // no node is there before the next step
  }

 private:
  struct Open {
    Node node;
    std::vector<float> sum;
  };

  // What goes to a rank that owns some tensors: as many blocks as the most nodes, each with the flag behind it.
  std::span<float> blocksFor(int rank) {
    std::size_t begin = 0;
    for (int r = 0; r < rank; ++r) begin += m_mostNodes * (m_parts.of(r) + 1);
    return std::span(m_sent).subspan(begin, m_mostNodes * (m_parts.of(rank) + 1));
  }
  void finishOwn(std::span<float> sum) {
    const int rank = m_ranks.rank();
    const std::size_t own = m_parts.of(rank), each = m_mostNodes * (own + 1);
    const auto from = [&](int other) {
      return std::span(m_received).subspan(static_cast<std::size_t>(other) * each, each);
    };
    std::copy_n(blocksFor(rank).begin(), each, from(rank).begin());
    scatterRounds(
        m_ranks, [&](int to) { return blocksFor(to); }, from);
    const std::span<float> mine = std::span(m_sent).first(own);  // sent: free again
    combine({0, m_shards}, mine, 0);
    m_parts.unpack(rank, mine, sum);
    std::fill(m_sent.begin(), m_sent.end(), 0.0f);  // no node is there before the next step
  }

  // A part of a node, and whether the node is there: shards without samples add nothing.
  std::size_t partOf(std::size_t floats) const {
    return padded(floats, m_ranks.size()) / static_cast<std::size_t>(m_ranks.size());
  }

  Node parentOf(Node child) const {
    Node node{0, m_shards};
    for (;;) {
      const Node half = child.low < node.mid() ? Node{node.low, node.mid()} : Node{node.mid(), node.high};
      if (half == child) return node;
      node = half;
    }
  }

  // Adds up what is complete once no shard below `next` comes any more.
  void closeBefore(int next) {
    const auto& mine = m_cover[static_cast<std::size_t>(m_ranks.rank())];
    while (m_depth > 0) {
      Open& top = m_open[m_depth - 1];
      if (const auto whole = std::find(mine.begin(), mine.end(), top.node); whole != mine.end()) {
        place(static_cast<std::size_t>(whole - mine.begin()), top.sum);
        --m_depth;
        continue;
      }
      const Node parent = parentOf(top.node);
      if (top.node.low == parent.low && next < parent.high) return;  // its other half may still come
      if (top.node.low > parent.low && m_depth > 1 && m_open[m_depth - 2].node == Node{parent.low, parent.mid()}) {
        addTo(m_open[m_depth - 2].sum, top.sum);
        --m_depth;
      }
      m_open[m_depth - 1].node = parent;
    }
  }

  void place(std::size_t k, std::span<const float> node) {
    if (m_ranks.size() == 1) {
      std::copy(node.begin(), node.end(), m_sent.begin());
      return;
    }
    for (int r = 0; r < m_ranks.size() && !m_parts.empty(); ++r) {
      const std::size_t own = m_parts.of(r);
      const std::span<float> block = blocksFor(r).subspan(k * (own + 1), own + 1);
      m_parts.pack(r, node, block);
      block[own] = 1;
    }
    if (!m_parts.empty()) return;
    const std::size_t part = partOf(node.size()), block = part + 1;
    for (std::size_t r = 0; r < m_cover.size(); ++r) {
      const std::size_t first = std::min(r * part, node.size()), count = std::min(part, node.size() - first);
      float* const to = m_sent.data() + (r * m_mostNodes + k) * block;
      std::copy_n(node.begin() + static_cast<std::ptrdiff_t>(first), count, to);
      to[part] = 1;
    }
  }

  // The node's sum over this rank's part of the numbers, from what all ranks sent; false: none of its shards adds.
  bool combine(Node node, std::span<float> to, std::size_t depth) {
    const std::size_t part = to.size(), block = part + 1;
    for (std::size_t rank = 0; rank < m_cover.size(); ++rank) {
      for (std::size_t k = 0; k < m_cover[rank].size(); ++k) {
        if (m_cover[rank][k] != node) continue;
        const float* const from = m_received.data() + (rank * m_mostNodes + k) * block;
        if (from[part] == 0) return false;
        std::copy_n(from, part, to.begin());
        return true;
      }
    }
    if (!combine({node.low, node.mid()}, to, depth)) return combine({node.mid(), node.high}, to, depth);
    while (m_scratch.size() <= depth) m_scratch.emplace_back();
    m_scratch[depth].resize(part);
    if (combine({node.mid(), node.high}, m_scratch[depth], depth + 1)) addTo(to, m_scratch[depth]);
    return true;
  }

  Communicator& m_ranks;
  OwnedParts m_parts;  // empty: all ranks need all
  int m_shards;
  Cover m_cover;
  std::size_t m_mostNodes;
  std::vector<Open> m_open;  // the first m_depth are in use
  std::size_t m_depth = 0;
  std::vector<float> m_sent, m_received;  // by rank, by node: a part and whether it is there
  std::vector<std::vector<float>> m_scratch;
};

std::vector<ReductionPhase> treePhases(const ReductionShape& shape) {
  const auto part = static_cast<std::int64_t>(padded(shape.floats, shape.ranks)) / shape.ranks;
  const auto nodes = static_cast<std::int64_t>(mostNodes(coverOf(shape)));
  return {scatterOrGather("nodes to their ranks", "all-to-all", 1, shape.ranks, 4 * nodes * (part + 1), shape.ranks),
          scatterOrGather("sums to all", "all-gather", 1, shape.ranks, 4 * part, shape.ranks)};
}

}  // namespace

std::int64_t nodesOfTree(const ReductionShape& shape) {
  return static_cast<std::int64_t>(mostNodes(coverOf(shape)));
}

const ReductionDefinition& defineTreeReduction() {
  static const ReductionDefinition row = [] {
    ReductionDefinition made;
    made.entry.id = "tree";
    made.entry.label = "Fixed tree";
    made.entry.category = "reduction";
    made.entry.summary = "Shards are added in an order of their own, the same on any number of ranks.";
    made.entry.help =
        "What deterministic runs take: the order is a tree over the numbers of the shards, whoever computed them. It "
        "begins when all shards are computed, so it overlaps nothing, and sends as often as the tree needs.";
    made.exact = true;
    made.phases = treePhases;
    made.sent = [](const ReductionShape& shape, int) { return sentIn(treePhases(shape)); };
    made.make = makeReduction<Tree>;
    return made;
  }();
  return row;
}

}  // namespace loom
