#pragma once
// bf16: the upper half of an f32, eight bits of precision. Rounding is to the nearest, ties to even; a NaN stays one,
// what is too large becomes infinite.
#include <cstdint>
#include <cstring>

#include "engine/cpu/kernels/isa.h"

namespace loom::cpu {

// The rounded number in the upper half, the lower half 0: its value as an f32.
LOOM_INLINE std::uint32_t roundedBits(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const std::uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
  return ((bits & 0x7fffffff) > 0x7f800000 ? bits | 0x400000 : rounded) & 0xffff0000;
}
LOOM_INLINE std::uint16_t toBf16(float value) {
  return static_cast<std::uint16_t>(roundedBits(value) >> 16);
}

void roundToBf16(const float* from, std::uint16_t* to, std::int64_t count);
// The rounded numbers as f32, for kernels that know no bf16. In place where both are the same.
void roundThroughBf16(const float* from, float* to, std::int64_t count);

// Whether this processor multiplies bf16 (AVX512-BF16), and may.
bool multipliesBf16();

}  // namespace loom::cpu
