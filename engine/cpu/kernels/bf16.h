#pragma once
// Rows of numbers to bf16 (engine/base/bf16.h) and back.
#include <cstdint>

#include "engine/base/bf16.h"
#include "engine/cpu/kernels/isa.h"

namespace loom::cpu {

void roundToBf16(const float* from, std::uint16_t* to, std::int64_t count);
// The rounded numbers as f32, for kernels that know no bf16. In place where both are the same.
void roundThroughBf16(const float* from, float* to, std::int64_t count);

#define LOOM_TARGET_AVX512_BF16 __attribute__((target(LOOM_AVX512 ",avx512bf16")))

// Whether this processor multiplies bf16 (AVX512-BF16), and may.
bool multipliesBf16();

}  // namespace loom::cpu
