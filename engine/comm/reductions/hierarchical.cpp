// Groups of k (Jia et al. 2018): each group brings its sum to its first rank, the first ranks add theirs, and each
// spreads the result in its group.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/comm/reductions/collectives.h"
#include "engine/comm/reductions/messages.h"

namespace loom {
namespace {

// As given; else the ranks of a host, where there are several hosts, or the divisor with the fewest steps.
int groupOf(const ReductionShape& shape) {
  const auto given = shape.values.find("hierarchical_group");
  if (given != shape.values.end() && given->is_number_integer() && given->get<int>() > 0)
    return std::min(given->get<int>(), shape.ranks);
  if (shape.perHost > 1 && shape.perHost < shape.ranks && shape.ranks % shape.perHost == 0) return shape.perHost;
  const auto steps = [&](std::int64_t k) { return 4 * (k - 1) + 2 * (shape.ranks / k - 1); };
  // Divisors come in pairs; of two with as few steps the smaller group is taken.
  int best = 1;
  const auto consider = [&](int k) {
    if (steps(k) < steps(best) || (steps(k) == steps(best) && k < best)) best = k;
  };
  for (int k = 1; k <= shape.ranks / k; ++k) {
    if (shape.ranks % k != 0) continue;
    consider(k);
    consider(shape.ranks / k);
  }
  return best;
}

class Hierarchical final : public Reduction {
 public:
  Hierarchical(Communicator& ranks, const ReductionShape& most) {
    const int k = groupOf(most), rank = ranks.rank();
    m_group = ranks.split(rank / k, rank);
    m_firsts = ranks.split(rank % k == 0 ? 0 : 1, rank);
    m_whole.resize(padded(most.floats, m_group->size()));
    m_part.resize(m_whole.size() / static_cast<std::size_t>(m_group->size()));
  }

  void finish(std::span<float> sum) override {
    const int members = m_group->size();
    if (members == 1) {
      m_firsts->sumInParts(sum);
      return;
    }
    const std::span<float> whole = std::span(m_whole).first(padded(sum.size(), members));
    const std::span<float> part = std::span(m_part).first(whole.size() / static_cast<std::size_t>(members));
    const auto partOfRank = [&](int r) {
      return whole.subspan(static_cast<std::size_t>(r) * part.size(), part.size());
    };
    std::fill(std::copy(sum.begin(), sum.end(), whole.begin()), whole.end(), 0.0f);
    m_group->reduceScatter(whole, part);
    if (m_group->rank() == 0) {
      std::copy(part.begin(), part.end(), whole.begin());
      for (int r = 1; r < members; ++r) receiveFloats(*m_group, partOfRank(r), r);
      m_firsts->sumInParts(whole.first(sum.size()));
      for (int r = 1; r < members; ++r) sendFloats(*m_group, partOfRank(r), r);
      std::copy_n(whole.begin(), part.size(), part.begin());
    } else {
      sendFloats(*m_group, part, 0);
      receiveFloats(*m_group, part, 0);
    }
    m_group->allGather(std::as_bytes(part), std::as_writable_bytes(whole));
    std::copy_n(whole.begin(), sum.size(), sum.begin());
  }

 private:
  std::unique_ptr<Communicator> m_group, m_firsts;  // the second: the first ranks of groups, or the others
  std::vector<float> m_whole, m_part;
};

// A smaller last group is ready sooner, and what it then sends first takes from what the members of the group before it
// send to the same rank. Bytes by which that one is later.
std::int64_t comesEarly(const ReductionShape& shape, int k, int groups) {
  const int members = shape.ranks - (groups - 1) * k;
  const double inGroups = 2.0 * ((k - 1.0) / k - (members - 1.0) / members);  // of a sum
  return static_cast<std::int64_t>(static_cast<double>(shape.bytes()) * std::min(1.0 / groups, inGroups));
}

std::vector<ReductionPhase> hierarchicalPhases(const ReductionShape& shape) {
  const int k = groupOf(shape), groups = (shape.ranks + k - 1) / k;
  const std::int64_t part = 4 * static_cast<std::int64_t>(padded(shape.floats, k)) / k;
  std::vector<ReductionPhase> all;
  if (k > 1) {
    all.push_back(scatterOrGather("reduce-scatter in groups", "reduce-scatter", groups, k, part, k));
    all.push_back(scatterOrGather("to the first of a group", "", groups, k, part, k));
  }
  if (const std::int64_t early = groups > 1 ? comesEarly(shape, k, groups) : 0; early > 0)
    all.push_back({"what a smaller group sends early", "", 1, 2, 0, early, shape.ranks});
  if (groups > 1) all.push_back(allReducePhase("between groups", 1, groups, shape.bytes(), shape.ranks));
  if (k > 1) {
    all.push_back(scatterOrGather("from the first of a group", "", groups, k, part, k));
    all.push_back(scatterOrGather("all-gather in groups", "all-gather", groups, k, part, k));
  }
  return all;
}

RankTraffic hierarchicalSent(const ReductionShape& shape, int rank) {
  const int k = groupOf(shape), groups = (shape.ranks + k - 1) / k;
  const std::int64_t members = std::min(k, shape.ranks - rank / k * k);  // the last group may be smaller
  const std::int64_t part = 4 * static_cast<std::int64_t>(padded(shape.floats, static_cast<int>(members))) / members;
  RankTraffic traffic{2 * (members - 1), 2 * (members - 1) * part};
  if (rank % k != 0) return {traffic.messages + 1, traffic.bytes + part};
  const ReductionPhase between = allReducePhase("", 1, groups, shape.bytes(), shape.ranks);
  return {traffic.messages + members - 1 + between.steps, traffic.bytes + (members - 1) * part + between.bytes};
}

}  // namespace

const ReductionDefinition& defineHierarchicalReduction() {
  static const ReductionDefinition row = [] {
    ReductionDefinition made;
    made.entry.id = "hierarchical";
    made.entry.label = "Groups";
    made.entry.category = "reduction";
    made.entry.aliases = {"hierarchical"};
    made.entry.summary = "Groups add first, then their first ranks, then groups again: few steps between groups.";
    made.entry.help =
        "Reduce-scatter in groups of k, gathered by each group's first rank; an all-reduce among the first ranks; "
        "scattered and all-gathered in groups. 4(k − 1) + 2(p/k − 1) steps (Jia et al. 2018). First ranks carry more "
        "bytes than in a ring: it pays where delay rules, on many ranks and for small messages.";
    made.entry.fields = {{.key = "hierarchical_group",
                          .label = "Ranks of a group",
                          .help = "Consecutive ranks that add first; the last group may be smaller. 0: the ranks of a "
                                  "host, or what takes the fewest steps.",
                          .type = FieldType::integer,
                          .defaultValue = 0,
                          .hard = Range{0, 65536},
                          .unit = "ranks"}};
    made.phases = hierarchicalPhases;
    made.sent = hierarchicalSent;
    made.make = makeReduction<Hierarchical>;
    return made;
  }();
  return row;
}

}  // namespace loom
