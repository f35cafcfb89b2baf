// The binomial tree: sums go up to rank 0 in log2 p rounds, and down the same way.
#include "engine/comm/reductions/messages.h"
#include "engine/comm/reductions/reduction.h"

namespace loom {
namespace {

// A rank's children are those that stand one bit below its lowest one.
int children(int rank, int ranks) {
  int count = 0;
  for (int bit = 1; bit < ranks && (rank & bit) == 0; bit *= 2) count += rank + bit < ranks;
  return count;
}

class Binomial final : public Reduction {
 public:
  Binomial(Communicator& ranks, const ReductionShape& most) : m_ranks(ranks), m_received(most.floats) {}
  void finish(std::span<float> sum) override {
    const int ranks = m_ranks.size(), rank = m_ranks.rank();
    const std::span<float> came = std::span(m_received).first(sum.size());
    int bit = 1;
    for (; bit < ranks && (rank & bit) == 0; bit *= 2) {
      if (rank + bit >= ranks) continue;
      receiveFloats(m_ranks, came, rank + bit);
      addTo(sum, came);
    }
    if (rank > 0) {
      sendFloats(m_ranks, sum, rank - bit);
      receiveFloats(m_ranks, sum, rank - bit);
    }
    for (bit /= 2; bit > 0; bit /= 2)
      if (rank + bit < ranks) sendFloats(m_ranks, sum, rank + bit);
  }

 private:
  Communicator& m_ranks;
  std::vector<float> m_received;
};

std::vector<ReductionPhase> binomialPhases(const ReductionShape& shape) {
  std::vector<ReductionPhase> all;
  const int rounds = doublings(shape.ranks);
  for (int i = 0; i < 2 * rounds; ++i) {
    const int round = i < rounds ? i : 2 * rounds - 1 - i;
    all.push_back({i < rounds ? "up" : "down", "", 1, shape.ranks, 1, shape.bytes(), 2 << round});
  }
  return all;
}

RankTraffic binomialSent(const ReductionShape& shape, int rank) {
  const std::int64_t messages = children(rank, shape.ranks) + (rank > 0 ? 1 : 0);
  return {messages, messages * shape.bytes()};
}

}  // namespace

const ReductionDefinition& defineBinomialReduction() {
  static const ReductionDefinition row = [] {
    ReductionDefinition made;
    made.entry.id = "binomial";
    made.entry.label = "Binomial tree";
    made.entry.category = "reduction";
    made.entry.summary = "Sums go up a tree and down again: few steps, each with all the bytes.";
    made.entry.help =
        "Reduced to rank 0 and broadcast: 2⌈log2 p⌉ steps of S bytes on the longest way, 2(p − 1)S in all. For small "
        "messages on many ranks.";
    made.phases = binomialPhases;
    made.sent = binomialSent;
    made.make = makeReduction<Binomial>;
    return made;
  }();
  return row;
}

}  // namespace loom
