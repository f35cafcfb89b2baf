// The library's own all-reduce.
#include "engine/comm/communicator.h"
#include "engine/comm/reductions/collectives.h"

namespace loom {
namespace {

class Library final : public Reduction {
 public:
  Library(Communicator& ranks, const ReductionShape&) : m_ranks(ranks) {}
  void finish(std::span<float> sum) override { m_ranks.allReduce(sum); }

 private:
  Communicator& m_ranks;
};

std::vector<ReductionPhase> libraryPhases(const ReductionShape& shape) {
  return {allReducePhase("all ranks", 1, shape.ranks, shape.bytes(), shape.ranks)};
}

}  // namespace

const ReductionDefinition& defineLibraryReduction() {
  static const ReductionDefinition row = [] {
    ReductionDefinition made;
    made.entry.id = "library";
    made.entry.label = "The library's";
    made.entry.category = "reduction";
    made.entry.aliases = {"MPI_Allreduce", "ncclAllReduce"};
    made.entry.summary = "One all-reduce, whose way Open MPI or NCCL chooses.";
    made.entry.help = "Its steps and bytes are told as those of a ring: which way it takes, the library alone knows.";
    made.phases = libraryPhases;
    made.sent = [](const ReductionShape& shape, int) { return sentIn(libraryPhases(shape)); };
    made.make = makeReduction<Library>;
    return made;
  }();
  return row;
}

}  // namespace loom
