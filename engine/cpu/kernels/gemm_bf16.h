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
// The longest K of a product whose C is in bf16: a block of A's rows over all of K is in scratch at once.
constexpr std::int64_t kLongestToHalf = 3072;
// gemm() with `packed` from packPanelsBf16. A is f32 and rounded on the way, or in bf16 already: then it is read where
// it stands if its rows are contiguous and K is even. As much scratch as gemm() needs.
void gemmBf16(const GemmProblem& problem, std::int64_t firstRow, std::int64_t lastRow, std::int64_t firstPanel,
              std::int64_t lastPanel, float* scratch);

}  // namespace loom::cpu
