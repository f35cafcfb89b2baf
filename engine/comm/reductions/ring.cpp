// The ring: equal parts go round, are added on their way, and go round once more as sums.
#include "engine/comm/reductions/messages.h"
#include "engine/comm/reductions/reduction.h"

namespace loom {
namespace {

int wrapped(int part, int ranks) {
  return ((part % ranks) + ranks) % ranks;
}

class Ring final : public Reduction {
 public:
  Ring(Communicator& ranks, const ReductionShape& most)
      : m_ranks(ranks), m_received(most.floats / static_cast<std::size_t>(ranks.size()) + 1) {}
  void finish(std::span<float> sum) override { ringAllReduce(m_ranks, sum, m_received); }

 private:
  Communicator& m_ranks;
  std::vector<float> m_received;
};

std::vector<ReductionPhase> ringPhases(const ReductionShape& shape) {
  const std::int64_t steps = shape.ranks - 1, bytes = shape.bytes() * steps / shape.ranks;
  return {{"parts are added", "", 1, shape.ranks, steps, bytes, shape.ranks},
          {"sums go round", "", 1, shape.ranks, steps, bytes, shape.ranks}};
}

// All parts but the one that it owns in the end, then all but the one behind that.
RankTraffic ringSent(const ReductionShape& shape, int rank) {
  if (shape.ranks == 1) return {};
  RankTraffic traffic{2 * (shape.ranks - 1), 2 * shape.bytes()};
  for (const int kept : {rank + 1, rank + 2}) {
    const int part = wrapped(kept, shape.ranks);
    traffic.bytes -= partBytes(shape.floats, shape.ranks, part, part + 1);
  }
  return traffic;
}

}  // namespace

const ReductionDefinition& defineRingReduction() {
  static const ReductionDefinition row = [] {
    ReductionDefinition made;
    made.entry.id = "ring";
    made.entry.label = "Ring";
    made.entry.category = "reduction";
    made.entry.aliases = {"flat ring"};
    made.entry.summary = "Equal parts go round the ranks: the fewest bytes, and the more steps the more ranks.";
    made.entry.help =
        "Each rank sends a part to the next one, which adds its own, until every part has met all ranks; then the sums "
        "go round. 2(p − 1) steps, 2S(p − 1)/p bytes a rank (Patarasuk and Yuan 2009). Best for large messages on few "
        "ranks.";
    made.phases = ringPhases;
    made.sent = ringSent;
    made.make = makeReduction<Ring>;
    return made;
  }();
  return row;
}

}  // namespace loom
