#include "engine/training/tree_sum.h"

#include <algorithm>

namespace loom {
namespace {

void addTo(std::span<float> sum, std::span<const float> values) {
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += values[i];
}

}  // namespace

TreeSum::TreeSum(Communicator& communicator, int shards, const std::function<int(int)>& owner, std::size_t size)
    : m_communicator(communicator),
      m_shards(shards),
      m_size(size),
      m_nodes(static_cast<std::size_t>(communicator.size())) {
  cover(0, shards, owner);
  for (const auto& nodes : m_nodes) m_most = std::max(m_most, nodes.size());
  const auto ranks = static_cast<std::size_t>(communicator.size());
  m_part = (size + ranks - 1) / ranks;
  if (ranks > 1) {
    m_send.resize(ranks * m_most * m_part);
    m_received.resize(ranks * m_most * m_part);
  }
}

void TreeSum::cover(int low, int high, const std::function<int(int)>& owner) {
  if (owner(low) == owner(high - 1)) {
    m_nodes[static_cast<std::size_t>(owner(low))].push_back({low, high});
    return;
  }
  const int mid = (low + high) / 2;
  cover(low, mid, owner);
  cover(mid, high, owner);
}

bool TreeSum::any(const Has& has, Node node) const {
  for (int shard = node.low; shard < node.high; ++shard)
    if (has(shard)) return true;
  return false;
}

std::span<float> TreeSum::scratch(std::size_t depth) {
  while (m_scratch.size() <= depth) m_scratch.emplace_back(m_size);
  return m_scratch[depth];
}

// The node's sum of this rank's shards; false, and nothing written, when none of them adds anything.
bool TreeSum::add(const Has& has, const Leaf& leaf, Node node, std::span<float> to, std::size_t depth) {
  if (!any(has, node)) return false;
  if (node.high - node.low == 1) {
    leaf(node.low, to);
    return true;
  }
  const int mid = (node.low + node.high) / 2;
  if (!add(has, leaf, {node.low, mid}, to, depth)) return add(has, leaf, {mid, node.high}, to, depth);
  const std::span<float> other = scratch(depth);
  if (add(has, leaf, {mid, node.high}, other, depth + 1)) addTo(to, other);
  return true;
}

// The node's sum over this rank's part of the numbers, from what all ranks sent.
bool TreeSum::combine(const Has& has, Node node, std::span<float> to, std::size_t depth) {
  if (!any(has, node)) return false;
  for (std::size_t rank = 0; rank < m_nodes.size(); ++rank) {
    for (std::size_t k = 0; k < m_nodes[rank].size(); ++k) {
      if (m_nodes[rank][k].low != node.low || m_nodes[rank][k].high != node.high) continue;
      std::copy_n(m_received.begin() + static_cast<std::ptrdiff_t>((rank * m_most + k) * m_part), to.size(),
                  to.begin());
      return true;
    }
  }
  const int mid = (node.low + node.high) / 2;
  if (!combine(has, {node.low, mid}, to, depth)) return combine(has, {mid, node.high}, to, depth);
  const std::span<float> other = scratch(depth).first(to.size());
  if (combine(has, {mid, node.high}, other, depth + 1)) addTo(to, other);
  return true;
}

void TreeSum::run(const Has& has, const Leaf& leaf, std::span<float> to) {
  if (m_communicator.size() == 1) {
    add(has, leaf, {0, m_shards}, to, 0);
    return;
  }
  const auto ranks = static_cast<std::size_t>(m_communicator.size()),
             mine = static_cast<std::size_t>(m_communicator.rank());
  for (std::size_t k = 0; k < m_nodes[mine].size(); ++k) {
    if (!add(has, leaf, m_nodes[mine][k], to, 0)) continue;
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::size_t first = std::min(r * m_part, m_size), count = std::min(m_part, m_size - first);
      std::copy_n(to.begin() + static_cast<std::ptrdiff_t>(first), count,
                  m_send.begin() + static_cast<std::ptrdiff_t>((r * m_most + k) * m_part));
    }
  }
  m_communicator.allToAll(std::as_bytes(std::span(m_send)), std::as_writable_bytes(std::span(m_received)));
  const std::span<float> part = std::span(m_send).first(m_part);  // sent: free again
  combine(has, {0, m_shards}, part, 0);
  const std::span<float> all = std::span(m_received).first(ranks * m_part);
  m_communicator.allGather(std::as_bytes(part), std::as_writable_bytes(all));
  std::copy_n(all.begin(), m_size, to.begin());
}

}  // namespace loom
