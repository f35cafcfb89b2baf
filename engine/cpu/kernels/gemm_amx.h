#pragma once
// gemmBf16() on the tile registers of AMX (Intel, from Sapphire Rapids on): 512 multiply-adds a cycle, sixteen times
// what the same processor does with AVX512-BF16.
#include "engine/cpu/kernels/gemm_bf16.h"

namespace loom::cpu {

// Whether this processor has the tiles and the kernel lets this process use them. GRADLOOM_ISA of any value says no.
bool multipliesInTiles();
// As gemmBf16(), which calls it.
void gemmTiles(const GemmProblem& problem, std::int64_t firstRow, std::int64_t lastRow, std::int64_t firstPanel,
               std::int64_t lastPanel, float* scratch);

}  // namespace loom::cpu
