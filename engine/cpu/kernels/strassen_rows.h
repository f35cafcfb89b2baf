#pragma once
// Products of halves (strassen.h) of an A that stays while B changes: the hidden weights of a recurrent layer, which
// every frame is multiplied with. The sums of A's quarters are packed once, in the order in which they are read; those
// of B, small, are packed for each product and stay in the level-1 cache while A passes by.
#include "engine/cpu/kernels/strassen.h"

namespace loom::cpu {

// Rows [first, last) of the upper half of A, and the same of the lower one.
struct HalvedRows {
  std::int64_t first, last;
};

// canHalve() for these: N in 32.
inline bool canHalveRows(std::int64_t m, std::int64_t n, std::int64_t k) {
  return canHalve(m, n, k, kNarrowPanel);
}

// The seven sums of the quarters of A (m x k, rows or columns contiguous), of these rows and steps: at most kMostSteps.
constexpr std::int64_t kMostSteps = 512;
std::int64_t halvedRowsFloats(const HalvedRows& rows, const HalvedSteps& steps);
void packHalvedRows(float* packed, const MatrixView& a, std::int64_t m, std::int64_t k, const HalvedRows& rows,
                    const HalvedSteps& steps);

// Tiles that multiplyHalvedRows() computes, at each of which a part of GemmProblem::ahead is fetched.
std::int64_t halvedTiles(const HalvedRows& rows, std::int64_t n);

// packHalved() for all columns of B (k x n), in narrow panels: few samples are its columns.
void packHalvedColumns(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, const HalvedSteps& steps);

// Those rows of gemm() over those steps, with A from packHalvedRows() (GemmProblem::a begins with it) and B from
// packHalvedColumns(), of the same steps. Neither bias nor activation, scale 1.
void multiplyHalvedRows(const GemmProblem& problem, const HalvedRows& rows, const HalvedSteps& steps);

}  // namespace loom::cpu
