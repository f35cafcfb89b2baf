#pragma once
// Matrix products in f32 by one level of Strassen's scheme (V. Strassen, Gaussian elimination is not optimal, 1969):
// seven products of halves for eight. All sums of A's quarters are made of a block of them at a time, the sums of B's
// when B is packed, and each product goes from registers into the quarters of C that it is part of, so no temporary of
// A or C is as large as a quarter.
//
//   M1 = (A11 + A22)(B11 + B22)   M2 = (A21 + A22) B11   M3 = A11 (B12 - B22)   M4 = A22 (B21 - B11)
//   M5 = (A11 + A12) B22          M6 = (A21 - A11)(B11 + B12)                   M7 = (A12 - A22)(B21 + B22)
//   C11 = M1 + M4 - M5 + M7       C12 = M3 + M5      C21 = M2 + M4              C22 = M1 - M2 + M3 + M6
//
// What it rounds is a few times what rounding the plain product is, relative to the largest numbers of the factors and
// not of the row and column; a number that is not finite spreads to the other half of the rows and columns.
#include "engine/cpu/kernels/gemm.h"

namespace loom::cpu {

// Whether a product can be divided so: M, of at least 8, in 2, N in twice the panels' width, K in 32.
bool canHalve(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t width = panelWidth());

// Steps [first, last) of the upper half of K, and the same of the lower one: all of them, or those of a block. A
// product may be computed block by block, from the first to the last one.
struct HalvedSteps {
  std::int64_t first, last;
};
inline HalvedSteps allSteps(std::int64_t k) {
  return {0, k / 2};
}
// Blocks of nearly equal size, of steps that are multiplied with together.
std::int64_t halvedBlocks(std::int64_t k);
HalvedSteps halvedBlock(std::int64_t k, std::int64_t block);

// The seven sums of the quarters of B's steps, each as packPanels() packs; panels [first, last) of the left half of the
// columns.
std::int64_t halvedFloats(const HalvedSteps& steps, std::int64_t n);
void packHalved(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first,
                std::int64_t last, const HalvedSteps& steps, std::int64_t width = panelWidth());

// Rows of each half that multiplyHalved() takes at a time.
constexpr std::int64_t kHalvedRows = 48;
// Floats of scratch that multiplyHalved() needs a thread.
std::int64_t halvedScratch();
// gemm() with `packed` from packHalved(), of an A whose rows or columns are contiguous, over `steps`. The share is of
// the upper half of the rows and the left half of the panels: the same rows of the lower half and panels of the right
// are computed with it. Not into bf16, scale 1.
void multiplyHalved(const GemmProblem& problem, const GemmShare& share, const HalvedSteps& steps, float* scratch);

}  // namespace loom::cpu
