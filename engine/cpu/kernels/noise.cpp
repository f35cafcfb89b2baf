#include "engine/cpu/kernels/noise.h"

#include "engine/cpu/kernels/simd.h"

namespace loom::cpu {
namespace {

typedef std::uint64_t VecL __attribute__((vector_size(64)));

// Eight blocks of Philox4x32-10 in the lanes of 64 bits; word w of block l in words[w][l], upper halves zero.
LOOM_INLINE void eightBlocks(NoiseKey key, std::uint64_t first, std::uint64_t counter, VecL (&words)[4]) {
  constexpr std::uint64_t kLow = 0xffffffffull;
  VecL block = VecL{} + first;
  block += VecL{0, 1, 2, 3, 4, 5, 6, 7};
  VecL c0 = block & kLow, c1 = block >> 32, c2 = VecL{} + (counter & kLow), c3 = VecL{} + (counter >> 32);
  std::uint32_t k0 = key.low, k1 = key.high;
  for (int round = 0; round < 10; ++round) {
    const VecL p0 = c0 * 0xD2511F53ull, p1 = c2 * 0xCD9E8D57ull;
    c0 = (p1 >> 32) ^ c1 ^ k0;
    c1 = p1 & kLow;
    c2 = (p0 >> 32) ^ c3 ^ k1;
    c3 = p0 & kLow;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

LOOM_INLINE void dropped(NoiseKey key, std::uint64_t counter, std::uint32_t threshold, float factor, Stored x, Stored y,
                         std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += 32) {
    VecL words[4];
    eightBlocks(key, static_cast<std::uint64_t>(i / 4), counter, words);
    // Words 0 1 and 2 3 of a block side by side, then the pairs of a block behind each other.
    const VecL left = words[0] | (words[1] << 32), right = words[2] | (words[3] << 32);
    const VecL low = __builtin_shuffle(left, right, VecL{0, 8, 1, 9, 2, 10, 3, 11});
    const VecL high = __builtin_shuffle(left, right, VecL{4, 12, 5, 13, 6, 14, 7, 15});
    const VecU bits[2] = {(VecU)low, (VecU)high};
    for (int half = 0; half < 2; ++half) {
      const std::int64_t at = i + half * kLanes, left2 = count - at;
      if (left2 <= 0) break;
      const Vec mask = (bits[half] >> 8) >= threshold ? splat(factor) : Vec{};
      storeSome(y, at, loadSome(x, at, left2) * mask, left2);
    }
  }
}
LOOM_INLINE void dropoutRangeBody(NoiseKey key, std::uint64_t counter, std::uint32_t threshold, float factor, Stored x,
                                  Stored y, std::int64_t count) {
  if (x.bf16 || y.bf16)
    dropped(key, counter, threshold, factor, x, y, count);
  else
    dropped(key, counter, threshold, factor, knownF32(x), knownF32(y), count);
}
LOOM_CPU_KERNEL(void, dropoutRange,
                (NoiseKey key, std::uint64_t counter, std::uint32_t threshold, float factor, Stored x, Stored y,
                 std::int64_t count),
                (key, counter, threshold, factor, x, y, count))

}  // namespace

NoiseKey noiseKey(std::uint64_t seed, std::uint64_t stream) {
  const std::uint64_t key = seed ^ (stream * 0x9E3779B97F4A7C15ull);
  return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

void dropoutSample(NoiseKey key, std::uint64_t counter, std::uint32_t threshold, float factor, Stored x, Stored y,
                   std::int64_t count) {
  dropoutRange(key, counter, threshold, factor, x, y, count);
}

}  // namespace loom::cpu
