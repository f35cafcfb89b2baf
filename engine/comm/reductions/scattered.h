#pragma once
// Sums of which each rank needs some tensors alone, those that it steps (ZeRO 1). A row that adds each number in an
// order of its own, whoever adds it, leaves the all-gather behind such a sum out: the same bits where they are needed,
// for fewer bytes. On other ranks' tensors nothing can be said of what stands there then.
#include <cstdint>
#include <span>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/comm/reductions/reduction.h"

namespace loom {

// Who needs which numbers of a sum.
class OwnedParts {
 public:
  struct Part {
    std::size_t begin = 0, count = 0;
    int owner = 0;
  };
  OwnedParts() = default;
  OwnedParts(std::vector<Part> parts, int ranks);
  bool empty() const { return m_counts.empty(); }
  std::size_t of(int rank) const { return m_counts[static_cast<std::size_t>(rank)]; }
  std::size_t all() const;
  // One rank's, one behind the other.
  void pack(int rank, std::span<const float> sum, std::span<float> to) const;
  void unpack(int rank, std::span<const float> from, std::span<float> sum) const;

 private:
  std::vector<Part> m_parts;
  std::vector<std::size_t> m_counts;  // by rank
};

// What a reduction that can do so is besides.
class Scattering {
 public:
  virtual ~Scattering() = default;
  // Before the first sum; all sums are of these parts then.
  virtual void scatter(OwnedParts parts) = 0;
};

// What passes the busiest rank one way, whether it sends or receives more; none: the row cannot.
std::optional<std::int64_t> scatteredBytes(const ReductionDefinition& row, const ReductionShape& shape,
                                           const OwnedParts& parts);

// The nodes of the fixed tree (tree.cpp) of which a rank has most: as often each number travels.
std::int64_t nodesOfTree(const ReductionShape& shape);

// Round by round each rank sends to another what is that one's, packed by `packed(to)`, and receives what is its own,
// into `place(from)`.
template <class Packed, class Place>
void scatterRounds(Communicator& ranks, const Packed& packed, const Place& place) {
  const int size = ranks.size(), rank = ranks.rank();
  for (int round = 1; round < size; ++round) {
    const int to = (rank + round) % size, from = (rank + size - round) % size;
    const std::span<const float> sent = packed(to);
    ranks.exchange(std::as_bytes(sent), to, std::as_writable_bytes(place(from)), from, 21);
  }
}

}  // namespace loom
