#pragma once
// Memory for time: activations that the backward part reads are not all kept from the forward part; some are computed
// again where they are needed. Which, follows from a budget and from what a backend's own plan takes. The numbers are
// the same, to the bit: a repeated operation is of the same op, with the same inputs, joined with the same others.
#include <cstdint>
#include <functional>

#include "engine/passes/fusion.h"
#include "engine/program/backend.h"

namespace loom {

// Attribute of an operation that is repeated: a number for all that were one pass of a backend when they were computed
// first. No pass merges or joins it with anything else.
inline constexpr const char* kRecomputed = "recomputed";
// 0 where it is the first time.
inline std::int64_t repetitionOf(const Operation& operation) {
  return operation.attributes.integer(kRecomputed, 0);
}

struct RecomputationRequest {
  std::size_t budget = 0;                              // bytes of the arena
  std::function<Joins(const Operation&)> joinsOf;      // as the backend will join operations
  std::function<std::size_t(const Program&)> arenaOf;  // bytes of the arena that the backend would lay out
};

// Changes the program where its arena would be larger than the budget, so little as it can tell: what is cheap for the
// memory that it gives back comes first, products and convolutions when nothing else will do. Run last, when types are
// chosen; a program without a backward part stays as it is. Throws Error(badProject) naming the least budget that can
// be kept.
Recomputation recomputeWithin(Program& program, const RecomputationRequest& request);

}  // namespace loom
