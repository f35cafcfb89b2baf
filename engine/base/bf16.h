#pragma once
// bf16: the upper half of an f32, eight bits of precision. Rounding is to the nearest, ties to even; a NaN stays one,
// what is too large becomes infinite. Always inlined, so that kernels of any instruction set hold their own.
#include <bit>
#include <cstdint>

namespace loom {

// The rounded number in the upper half, the lower half 0: its value as an f32.
inline __attribute__((always_inline)) std::uint32_t bf16Bits(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = bits + 0x7fff + ((bits >> 16) & 1);
  return ((bits & 0x7fffffff) > 0x7f800000 ? bits | 0x400000 : rounded) & 0xffff0000;
}
inline __attribute__((always_inline)) std::uint16_t toBf16(float value) {
  return static_cast<std::uint16_t>(bf16Bits(value) >> 16);
}
inline __attribute__((always_inline)) float fromBf16(std::uint16_t word) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(word) << 16);
}

}  // namespace loom
