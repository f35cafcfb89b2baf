// Philox4x32-10 as in base/philox.h.
#pragma once
#include "engine/cuda/kernels/language.h"

namespace loom::cuda {

struct NoiseBlock {
  std::uint32_t word[4];
  __device__ __forceinline__ std::uint32_t operator[](int index) const { return word[index]; }
};

__device__ __forceinline__ NoiseBlock noiseBlock(std::uint32_t k0, std::uint32_t k1, std::uint64_t low,
                                                 std::uint64_t high) {
  std::uint32_t c0 = static_cast<std::uint32_t>(low), c1 = static_cast<std::uint32_t>(low >> 32),
                c2 = static_cast<std::uint32_t>(high), c3 = static_cast<std::uint32_t>(high >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c0, p1 = std::uint64_t{0xCD9E8D57u} * c2;
    c0 = static_cast<std::uint32_t>(p1 >> 32) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(p1);
    c2 = static_cast<std::uint32_t>(p0 >> 32) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(p0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return {{c0, c1, c2, c3}};
}

}  // namespace loom::cuda
