// Halving and doubling: pairs split what they still own, add their half, and gather the sums on the way back.
#include <algorithm>

#include "engine/comm/reductions/messages.h"
#include "engine/comm/reductions/reduction.h"

namespace loom {
namespace {

// Of `core` parts a rank owns [low, high); with a partner `half` away it keeps the half on its side.
struct Halves {
  int low, high;
  explicit Halves(int core) : low(0), high(core) {}
  // Answers the half that is given away.
  std::pair<int, int> split(int number, int half) {
    const int mid = low + half;
    const bool lower = (number & half) == 0;
    const std::pair<int, int> given = lower ? std::pair(mid, high) : std::pair(low, mid);
    (lower ? high : low) = mid;
    return given;
  }
};

class HalvingDoubling final : public Reduction {
 public:
  HalvingDoubling(Communicator& ranks, const ReductionShape& most) : m_ranks(ranks), m_received(most.floats) {}
  void finish(std::span<float> sum) override {
    if (m_ranks.size() == 1) return;
    const Folded folded(m_ranks.size());
    folded.run(m_ranks, sum, m_received, [&](int number) { among(folded, number, sum); });
  }

 private:
  void among(const Folded& folded, int number, std::span<float> sum) {
    const int core = folded.core;
    Halves mine(core);
    for (int half = core / 2; half > 0; half /= 2) {
      const auto [first, last] = mine.split(number, half);
      const int partner = folded.rankOf(number ^ half);
      const std::span<float> kept = partOf(sum, core, mine.low, mine.high);
      const std::span<float> came = std::span(m_received).first(kept.size());
      exchangeFloats(m_ranks, partOf(sum, core, first, last), partner, came, partner);
      addLowerFirst((number & half) == 0, kept, came);
    }
    for (int half = 1; half < core; half *= 2) {
      const int partner = folded.rankOf(number ^ half);
      const int other = mine.low ^ half;  // where the partner's begins
      exchangeFloats(m_ranks, partOf(sum, core, mine.low, mine.high), partner, partOf(sum, core, other, other + half),
                     partner);
      mine.low = std::min(mine.low, other);
      mine.high = mine.low + 2 * half;
    }
  }

  Communicator& m_ranks;
  std::vector<float> m_received;
};

std::vector<ReductionPhase> halvingDoublingPhases(const ReductionShape& shape) {
  const Folded folded(shape.ranks);
  std::vector<ReductionPhase> all;
  const auto within = [&](int half) { return folded.pairs > 0 ? shape.ranks : 2 * half; };
  if (folded.pairs > 0) all.push_back({"odd ones give", "", folded.pairs, 2, 1, shape.bytes(), 2});
  for (int half = folded.core / 2; half > 0; half /= 2)
    all.push_back({"halves are added", "", folded.core / 2, 2, 1, shape.bytes() * half / folded.core, within(half)});
  for (int half = 1; half < folded.core; half *= 2)
    all.push_back({"halves are gathered", "", folded.core / 2, 2, 1, shape.bytes() * half / folded.core, within(half)});
  if (folded.pairs > 0) all.push_back({"odd ones take", "", folded.pairs, 2, 1, shape.bytes(), 2});
  return all;
}

RankTraffic halvingDoublingSent(const ReductionShape& shape, int rank) {
  const Folded folded(shape.ranks);
  if (folded.waits(rank)) return {1, shape.bytes()};
  RankTraffic traffic{2 * folded.rounds(), 0};
  const int number = folded.number(rank);
  Halves mine(folded.core);
  for (int half = folded.core / 2; half > 0; half /= 2) {
    const auto [first, last] = mine.split(number, half);
    // What it keeps it sends on the way back.
    traffic.bytes +=
        partBytes(shape.floats, folded.core, first, last) + partBytes(shape.floats, folded.core, mine.low, mine.high);
  }
  if (rank < 2 * folded.pairs) traffic.messages += 1, traffic.bytes += shape.bytes();
  return traffic;
}

}  // namespace

const ReductionDefinition& defineHalvingDoublingReduction() {
  static const ReductionDefinition row = [] {
    ReductionDefinition made;
    made.entry.id = "halving_doubling";
    made.entry.label = "Halving and doubling";
    made.entry.category = "reduction";
    made.entry.aliases = {"Rabenseifner"};
    made.entry.summary = "Pairs split, add and gather again: a ring's bytes in a tree's steps.";
    made.entry.help =
        "2 log2 p steps, 2S(p − 1)/p bytes a rank (Rabenseifner 2004). Where p is no power of two, the ranks beyond it "
        "give their numbers to a neighbour first and take the sum last: 2 steps and S bytes more.";
    made.phases = halvingDoublingPhases;
    made.sent = halvingDoublingSent;
    made.make = makeReduction<HalvingDoubling>;
    return made;
  }();
  return row;
}

}  // namespace loom
