#include "engine/cpu/kernels/bf16.h"

#include <cstring>

namespace loom::cpu {

LOOM_INLINE void roundToBf16Body(const float* from, std::uint16_t* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = toBf16(from[i]);
}
LOOM_CPU_KERNEL(void, roundToBf16, (const float* from, std::uint16_t* to, std::int64_t count), (from, to, count))

LOOM_INLINE void roundThroughBf16Body(const float* from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t bits = bf16Bits(from[i]);
    std::memcpy(to + i, &bits, sizeof bits);
  }
}
LOOM_CPU_KERNEL(void, roundThroughBf16, (const float* from, float* to, std::int64_t count), (from, to, count))

bool multipliesBf16() {
  static const bool can = isa() == Isa::avx512 && __builtin_cpu_supports("avx512bf16");
  return can;
}

}  // namespace loom::cpu
