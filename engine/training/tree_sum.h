#pragma once
// A sum over V shards whose order of additions is a tree over the shards' numbers and nothing else: node [low, high) =
// node [low, mid)
// + node [mid, high). A rank adds what lies whole in its shards; an all-to-all brings each rank a part of all ranks'
// nodes, it adds them in the tree's order, and an all-gather spreads the sums. So any number of ranks gives the same
// bits.
#include <functional>
#include <vector>

#include "engine/comm/communicator.h"

namespace loom {

class TreeSum {
 public:
  // `owner(shard)` ascends over ranks. `size` numbers are summed.
  TreeSum(Communicator& communicator, int shards, const std::function<int(int shard)>& owner, std::size_t size);

  // `has(shard)`: whether the shard adds anything, the same answer on every rank; `leaf(shard, to)` writes this rank's
  // shards, in ascending order. The sum is in `to`.
  using Has = std::function<bool(int shard)>;
  using Leaf = std::function<void(int shard, std::span<float> to)>;
  void run(const Has& has, const Leaf& leaf, std::span<float> to);

 private:
  struct Node {
    int low, high;
  };
  void cover(int low, int high, const std::function<int(int)>& owner);
  bool any(const Has& has, Node node) const;
  bool add(const Has& has, const Leaf& leaf, Node node, std::span<float> to, std::size_t depth);
  bool combine(const Has& has, Node node, std::span<float> to, std::size_t depth);
  std::span<float> scratch(std::size_t depth);

  Communicator& m_communicator;
  int m_shards;
  std::size_t m_size;
  std::vector<std::vector<Node>> m_nodes;  // by rank: the largest nodes that lie whole in its shards
  std::size_t m_most = 0;                  // nodes of a rank
  std::size_t m_part = 0;                  // numbers that a rank adds up
  std::vector<float> m_send, m_received;   // node by node; part by part
  std::vector<std::vector<float>> m_scratch;
};

}  // namespace loom
