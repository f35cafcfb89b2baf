#pragma once
// Which operations a backend may compute in one pass over memory: a producer (convolution, matmul, batch normalisation,
// ...) and the elementwise operations that follow it and alone read what it writes. Only an analysis: the program stays
// as it is, and a backend takes as much of a chain as its kernels know.
#include <cstdint>
#include <vector>

#include "engine/program/program.h"

namespace loom {

struct FusionHints {
  // By operation: the operations that may follow in the same pass, in order; empty = none. What a link writes is read
  // by the next link and by nobody else (unless it is the last), and is no result.
  std::vector<std::vector<std::int32_t>> epilogues;
  // By operation: the one in whose pass it may be computed, -1 = its own.
  std::vector<std::int32_t> leader;
};

FusionHints analyseFusion(const Program& program);

}  // namespace loom
