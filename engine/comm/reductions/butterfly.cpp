// The butterfly (recursive doubling): in each round pairs exchange all that they have and both add it.
#include "engine/comm/reductions/messages.h"
#include "engine/comm/reductions/reduction.h"

namespace loom {
namespace {

class Butterfly final : public Reduction {
 public:
  Butterfly(Communicator& ranks, const ReductionShape& most) : m_ranks(ranks), m_received(most.floats) {}
  void finish(std::span<float> sum) override {
    if (m_ranks.size() == 1) return;
    const Folded folded(m_ranks.size());
    const std::span<float> came = std::span(m_received).first(sum.size());
    folded.run(m_ranks, sum, m_received, [&](int number) {
      for (int bit = 1; bit < folded.core; bit *= 2) {
        const int partner = folded.rankOf(number ^ bit);
        exchangeFloats(m_ranks, sum, partner, came, partner);
        addLowerFirst((number & bit) == 0, sum, came);
      }
    });
  }

 private:
  Communicator& m_ranks;
  std::vector<float> m_received;
};

std::vector<ReductionPhase> butterflyPhases(const ReductionShape& shape) {
  const Folded folded(shape.ranks);
  std::vector<ReductionPhase> all;
  if (folded.pairs > 0) all.push_back({"odd ones give", "", folded.pairs, 2, 1, shape.bytes(), 2});
  for (int bit = 1; bit < folded.core; bit *= 2)
    all.push_back(
        {"pairs exchange", "", folded.core / 2, 2, 1, shape.bytes(), folded.pairs > 0 ? shape.ranks : 2 * bit});
  if (folded.pairs > 0) all.push_back({"odd ones take", "", folded.pairs, 2, 1, shape.bytes(), 2});
  return all;
}

RankTraffic butterflySent(const ReductionShape& shape, int rank) {
  const Folded folded(shape.ranks);
  const std::int64_t messages = folded.waits(rank) ? 1 : folded.rounds() + (rank < 2 * folded.pairs ? 1 : 0);
  return {messages, messages * shape.bytes()};
}

}  // namespace

const ReductionDefinition& defineButterflyReduction() {
  static const ReductionDefinition row = [] {
    ReductionDefinition made;
    made.entry.id = "butterfly";
    made.entry.label = "Butterfly";
    made.entry.category = "reduction";
    made.entry.aliases = {"recursive doubling"};
    made.entry.summary = "Pairs exchange all they have, log2 p times: the fewest steps, for small messages.";
    made.entry.help =
        "log2 p steps, S log2 p bytes a rank. Where p is no power of two, the ranks beyond it give their numbers to a "
        "neighbour first and take the sum last: 2 steps and S bytes more.";
    made.phases = butterflyPhases;
    made.sent = butterflySent;
    made.make = makeReduction<Butterfly>;
    return made;
  }();
  return row;
}

}  // namespace loom
