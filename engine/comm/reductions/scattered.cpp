#include "engine/comm/reductions/scattered.h"

#include <algorithm>
#include <numeric>

namespace loom {

OwnedParts::OwnedParts(std::vector<Part> parts, int ranks)
    : m_parts(std::move(parts)), m_counts(static_cast<std::size_t>(ranks)) {
  for (const Part& part : m_parts) m_counts[static_cast<std::size_t>(part.owner)] += part.count;
}

std::size_t OwnedParts::all() const {
  return std::accumulate(m_counts.begin(), m_counts.end(), std::size_t{0});
}

void OwnedParts::pack(int rank, std::span<const float> sum, std::span<float> to) const {
  for (const Part& part : m_parts) {
    if (part.owner != rank) continue;
    std::copy_n(sum.begin() + static_cast<std::ptrdiff_t>(part.begin), part.count, to.begin());
    to = to.subspan(part.count);
  }
}

void OwnedParts::unpack(int rank, std::span<const float> from, std::span<float> sum) const {
  for (const Part& part : m_parts) {
    if (part.owner != rank) continue;
    std::copy_n(from.begin(), part.count, sum.begin() + static_cast<std::ptrdiff_t>(part.begin));
    from = from.subspan(part.count);
  }
}

std::optional<std::int64_t> scatteredBytes(const ReductionDefinition& row, const ReductionShape& shape,
                                           const OwnedParts& parts) {
  if (shape.ranks == 1 || shape.wire != Wire::f32) return std::nullopt;
  const bool direct = row.entry.id == "direct", tree = row.entry.id == "tree";
  if (!direct && !tree) return std::nullopt;
  const std::int64_t copies = tree ? nodesOfTree(shape) : 1, header = tree ? 1 : 0,
                     all = static_cast<std::int64_t>(parts.all());
  std::int64_t most = 0;
  for (int rank = 0; rank < shape.ranks; ++rank) {
    const auto own = static_cast<std::int64_t>(parts.of(rank));
    const std::int64_t others = shape.ranks - 1;
    most = std::max({most, all - own + header * others, others * (own + header)});
  }
  return 4 * copies * most;
}

}  // namespace loom
