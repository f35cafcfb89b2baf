#pragma once
// Matrix products of numbers rounded to bf16, summed in f32: gemm.h's with two steps of K at a time in one word. The
// AVX512-BF16 instruction where the processor has it; elsewhere the same rounded numbers multiplied in f32.
#include "engine/cpu/kernels/gemm.h"

namespace loom::cpu {

// In floats, as the arena counts: panels of words that hold steps 2i and 2i + 1 of K (0 beyond an odd end).
inline std::int64_t packedFloatsBf16(std::int64_t k, std::int64_t columns) {
  return panelsOf(columns) * panelWidth() * ((k + 1) / 2);
}
void packPanelsBf16(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first,
                    std::int64_t last);
// gemm() with `packed` from packPanelsBf16; A is f32 and rounded on the way. As much scratch as gemm() needs.
void gemmBf16(const GemmProblem& problem, std::int64_t firstRow, std::int64_t lastRow, std::int64_t firstPanel,
              std::int64_t lastPanel, float* scratch);

}  // namespace loom::cpu
