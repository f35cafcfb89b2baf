// Through memory that ranks of a host share, and the library between hosts.
#include <algorithm>

#include "engine/comm/communicator.h"
#include "engine/comm/reductions/collectives.h"
#include "engine/comm/reductions/host_reduction.h"

namespace loom {
namespace {

constexpr std::size_t kLeastShared = 2048;  // floats: below it, meeting twice costs more than a message

class HostMemory final : public Reduction {
 public:
  HostMemory(Communicator& ranks, const ReductionShape&) : m_ranks(ranks) {}
  void finish(std::span<float> sum) override {
    HostReduction* const onHost = m_ranks.onHost();
    onHost&& sum.size() >= kLeastShared ? onHost->run(sum) : m_ranks.sumInParts(sum);
  }

 private:
  Communicator& m_ranks;
};

// Hosts with different numbers of ranks, or one each, leave it to the library.
int sharing(const ReductionShape& shape) {
  const int host = shape.perHost > 0 ? std::min(shape.perHost, shape.ranks) : shape.ranks;
  return shape.ranks % host == 0 && shape.floats >= kLeastShared ? host : 1;
}

std::vector<ReductionPhase> hostMemoryPhases(const ReductionShape& shape) {
  const int host = sharing(shape), hosts = shape.ranks / host;
  if (host == 1) return {allReducePhase("all ranks", 1, shape.ranks, shape.bytes(), shape.ranks)};
  std::vector<ReductionPhase> all;
  // Each writes what it has and reads what all have: two meetings, and no message.
  all.push_back({"memory of a host", "shared memory", hosts, host, 2, 2 * shape.bytes(), host});
  if (hosts > 1) all.push_back(allReducePhase("between hosts", host, hosts, shape.bytes() / host, shape.ranks));
  return all;
}

RankTraffic hostMemorySent(const ReductionShape& shape, int) {
  std::vector<ReductionPhase> messages = hostMemoryPhases(shape);
  std::erase_if(messages, [](const ReductionPhase& phase) { return phase.call == "shared memory"; });
  return sentIn(messages);
}

}  // namespace

const ReductionDefinition& defineHostMemoryReduction() {
  static const ReductionDefinition row = [] {
    ReductionDefinition made;
    made.entry.id = "host_memory";
    made.entry.label = "The host's memory";
    made.entry.category = "reduction";
    made.entry.aliases = {"shared memory"};
    made.entry.summary = "Ranks of a host add in memory that they share; between hosts the library does.";
    made.entry.help =
        "From 2,048 numbers each rank of a host adds a share of them over its host's ranks and exchanges only that "
        "share with other hosts: a torus whose rows are hosts, without a message in the rows. Smaller sums, and hosts "
        "with one rank or different numbers of them, are left to the library.";
    made.phases = hostMemoryPhases;
    made.sent = hostMemorySent;
    made.make = makeReduction<HostMemory>;
    return made;
  }();
  return row;
}

}  // namespace loom
