#pragma once
// What rows of the library's collectives have in common: phases and traffic of each, as a ring moves them.
#include <string>

#include "engine/comm/reductions/reduction.h"

namespace loom {

// A collective of one part of `ranks` equal ones, by `groups` groups at the same time.
inline ReductionPhase scatterOrGather(std::string name, std::string call, int groups, int ranks, std::int64_t partBytes,
                                      int within) {
  const std::int64_t steps = ranks - 1;
  return {std::move(name), std::move(call), groups, ranks, steps, steps * partBytes, within};
}

// All-reduce of `bytes`.
inline ReductionPhase allReducePhase(std::string name, int groups, int ranks, std::int64_t bytes, int within) {
  const std::int64_t steps = 2 * (ranks - 1);
  return {std::move(name), "all-reduce", groups, ranks, steps, steps * bytes / ranks, within};
}

// What a rank that takes part in all phases sends.
inline RankTraffic sentIn(const std::vector<ReductionPhase>& phases) {
  RankTraffic traffic;
  for (const ReductionPhase& phase : phases) {
    traffic.messages += phase.steps;
    traffic.bytes += phase.bytes;
  }
  return traffic;
}

// The next multiple: what a collective of equal parts moves.
inline std::size_t padded(std::size_t floats, int parts) {
  const auto n = static_cast<std::size_t>(parts);
  return (floats + n - 1) / n * n;
}

}  // namespace loom
