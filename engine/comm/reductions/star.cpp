// The star: rank 0 takes what all have, one after the other, and sends each the sum, as a parameter server does.
#include "engine/comm/reductions/messages.h"
#include "engine/comm/reductions/reduction.h"

namespace loom {
namespace {

class Star final : public Reduction {
 public:
  Star(Communicator& ranks, const ReductionShape& most)
      : m_ranks(ranks), m_received(ranks.rank() == 0 ? most.floats : 0) {}
  void finish(std::span<float> sum) override {
    if (m_ranks.rank() > 0) {
      sendFloats(m_ranks, sum, 0);
      receiveFloats(m_ranks, sum, 0);
      return;
    }
    const std::span<float> came = std::span(m_received).first(sum.size());
    for (int from = 1; from < m_ranks.size(); ++from) {
      receiveFloats(m_ranks, came, from);
      addTo(sum, came);
    }
    for (int to = 1; to < m_ranks.size(); ++to) sendFloats(m_ranks, sum, to);
  }

 private:
  Communicator& m_ranks;
  std::vector<float> m_received;
};

std::vector<ReductionPhase> starPhases(const ReductionShape& shape) {
  const std::int64_t others = shape.ranks - 1;
  return {{"up to rank 0", "", 1, shape.ranks, others, others * shape.bytes(), shape.ranks},
          {"down to all", "", 1, shape.ranks, others, others * shape.bytes(), shape.ranks}};
}

RankTraffic starSent(const ReductionShape& shape, int rank) {
  const std::int64_t messages = rank == 0 ? shape.ranks - 1 : 1;
  return {messages, messages * shape.bytes()};
}

}  // namespace

const ReductionDefinition& defineStarReduction() {
  static const ReductionDefinition row = [] {
    ReductionDefinition made;
    made.entry.id = "star";
    made.entry.label = "Star";
    made.entry.category = "reduction";
    made.entry.aliases = {"parameter server"};
    made.entry.summary = "Rank 0 adds for all, one message at a time: for a few ranks, and to compare with.";
    made.entry.help =
        "As a parameter server at rank 0: 2(p − 1) steps, all through its link, which carries (p − 1)S bytes each way.";
    made.phases = starPhases;
    made.sent = starSent;
    made.make = makeReduction<Star>;
    return made;
  }();
  return row;
}

}  // namespace loom
