// For each size of a sum the way that should take the least time, by delay and bandwidth of the links.
#include <map>

#include "engine/comm/communicator.h"
#include "engine/comm/reductions/collectives.h"
#include "engine/comm/reductions/host_reduction.h"
#include "engine/comm/reductions/links.h"

namespace loom {
namespace {

// What is worth considering: rows whose time their formula knows, none of them exact or for comparison.
constexpr const char* kCandidates[] = {"ring", "halving_doubling", "butterfly", "binomial", "torus", "hierarchical"};

const ReductionDefinition& cheapestOf(const ReductionShape& shape) {
  const ReductionDefinition* best = nullptr;
  double least = 0;
  for (const char* name : kCandidates) {
    const ReductionDefinition* const row = findReduction(name);
    if (row->refuse && row->refuse(shape.ranks, shape.values)) continue;
    const double seconds = secondsOf(*row, shape);
    if (best && seconds >= least) continue;
    best = row, least = seconds;
  }
  return *best;
}

bool alike(const Link& a, const Link& b) {
  return a.delay == b.delay && a.bandwidth == b.bandwidth;
}

// What all ranks of a shape send is asked rank by rank: the choice is made once.
const ReductionDefinition& cheapest(const ReductionShape& shape) {
  thread_local ReductionShape asked;
  thread_local const ReductionDefinition* answer = nullptr;
  const bool same = answer && asked.ranks == shape.ranks && asked.floats == shape.floats && asked.wire == shape.wire &&
                    asked.perHost == shape.perHost && alike(asked.links.within, shape.links.within) &&
                    alike(asked.links.between, shape.links.between) && asked.values == shape.values;
  if (same) return *answer;
  answer = &cheapestOf(shape);
  asked = shape;
  return *answer;
}

class Hybrid final : public Reduction {
 public:
  Hybrid(Communicator& ranks, const ReductionShape& most) : m_ranks(ranks), m_shape(most) {
    const MeasuredLinks measured = measureLinks(ranks, machineOfRank());
    m_shape.links = measured.links;
    m_shape.perHost = measured.perHost;
  }

  // All ranks choose alike, since they know the same of the links. A way is made when the first sum takes it.
  void finish(std::span<float> sum) override {
    if (m_ranks.size() == 1) return;
    const ReductionDefinition& row = rowFor(sum.size());
    std::unique_ptr<Reduction>& way = m_ways[&row];
    if (!way) way = row.make(m_ranks, m_shape);
    way->finish(sum);
  }

  std::optional<Choice> chosenFor(std::size_t floats) const override {
    const ReductionDefinition& row = rowFor(floats);
    return Choice{row.entry.id, secondsOf(row, shapeOf(floats))};
  }

 private:
  ReductionShape shapeOf(std::size_t floats) const {
    ReductionShape shape = m_shape;
    shape.floats = floats;
    return shape;
  }
  const ReductionDefinition& rowFor(std::size_t floats) const {
    const ReductionDefinition*& row = m_rows[floats];
    if (!row) row = &cheapest(shapeOf(floats));
    return *row;
  }

  Communicator& m_ranks;
  ReductionShape m_shape;
  mutable std::map<std::size_t, const ReductionDefinition*> m_rows;  // by size, as they were asked for
  std::map<const ReductionDefinition*, std::unique_ptr<Reduction>> m_ways;
};

}  // namespace

const ReductionDefinition& defineHybridReduction() {
  static const ReductionDefinition row = [] {
    ReductionDefinition made;
    made.entry.id = "hybrid";
    made.entry.label = "Hybrid";
    made.entry.category = "reduction";
    made.entry.summary = "For each message the way that should be the fastest, by the links measured at the start.";
    made.entry.help =
        "Delay and bandwidth within a host and between hosts are measured when the run starts; each message takes the "
        "ring, halving and doubling, the butterfly, the binomial tree, the torus or groups, whichever should take the "
        "least time: trees for small messages, rings for large ones. The event exchange says which, and how long it "
        "took.";
    made.phases = [](const ReductionShape& shape) { return cheapest(shape).phases(shape); };
    made.sent = [](const ReductionShape& shape, int rank) { return cheapest(shape).sent(shape, rank); };
    made.make = makeReduction<Hybrid>;
    return made;
  }();
  return row;
}

}  // namespace loom
