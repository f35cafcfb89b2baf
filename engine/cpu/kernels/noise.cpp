#include "engine/cpu/kernels/noise.h"

#include "engine/cpu/kernels/native.h"

namespace loom::cpu {
namespace {

typedef std::uint64_t VecL __attribute__((vector_size(64)));

// The product of the lower halves of the lanes; without the instruction, of lanes whose upper halves are 0.
template <bool kNative>
LOOM_INLINE VecL productOf(VecL a, VecL factor) {
  if constexpr (kNative) {
    VecL product;
    asm("vpmuludq %2, %1, %0" : "=v"(product) : "v"(a), "v"(factor));
    return product;
  } else {
    return a * factor;
  }
}

// Eight blocks of Philox4x32-10 in the lanes of 64 bits; word w of block l in words[w][l], upper halves zero.
template <bool kNative>
LOOM_INLINE void eightBlocks(NoiseKey key, std::uint64_t first, std::uint64_t counter, VecL (&words)[4]) {
  constexpr std::uint64_t kLow = 0xffffffffull;
  VecL block = VecL{} + first;
  block += VecL{0, 1, 2, 3, 4, 5, 6, 7};
  VecL c0 = block & kLow, c1 = block >> 32, c2 = VecL{} + (counter & kLow), c3 = VecL{} + (counter >> 32);
  std::uint32_t k0 = key.low, k1 = key.high;
  for (int round = 0; round < 10; ++round) {
    const VecL p0 = productOf<kNative>(c0, VecL{} + 0xD2511F53ull), p1 = productOf<kNative>(c2, VecL{} + 0xCD9E8D57ull);
    c0 = (p1 >> 32) ^ c1 ^ k0;
    c1 = kNative ? p1 : p1 & kLow;  // what stands above it, the instruction does not read
    c2 = (p0 >> 32) ^ c3 ^ k1;
    c3 = kNative ? p0 : p0 & kLow;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  words[0] = c0 & kLow;
  words[1] = c1 & kLow;
  words[2] = c2 & kLow;
  words[3] = c3 & kLow;
}

// Which of the 32 numbers from the i-th one on are kept: all bits set.
template <bool kNative>
LOOM_INLINE void keptOf(NoiseKey key, std::uint64_t counter, std::uint32_t threshold, std::int64_t i, VecI (&kept)[2]) {
  VecL words[4];
  eightBlocks<kNative>(key, static_cast<std::uint64_t>(i / 4), counter, words);
  // Words 0 1 and 2 3 of a block side by side, then the pairs of a block behind each other.
  const VecL left = words[0] | (words[1] << 32), right = words[2] | (words[3] << 32);
  const VecL low = __builtin_shuffle(left, right, VecL{0, 8, 1, 9, 2, 10, 3, 11});
  const VecL high = __builtin_shuffle(left, right, VecL{4, 12, 5, 13, 6, 14, 7, 15});
  const auto least = static_cast<std::int32_t>(threshold);  // at most 2^24
  kept[0] = (VecI)((VecU)low >> 8) >= least;
  kept[1] = (VecI)((VecU)high >> 8) >= least;
}

template <bool kNative>
LOOM_INLINE void dropped(NoiseKey key, std::uint64_t counter, std::uint32_t threshold, float factor, Stored x, Stored y,
                         std::int64_t count) {
  const Vec factors = Vec{} + factor;
  VecI kept[2];
  std::int64_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    keptOf<kNative>(key, counter, threshold, i, kept);
    storeSomeAs<kNative>(y, i, loadSomeAs<kNative>(x, i, kLanes) * where(kept[0], factors), kLanes);
    storeSomeAs<kNative>(y, i + kLanes, loadSomeAs<kNative>(x, i + kLanes, kLanes) * where(kept[1], factors), kLanes);
  }
  if (i == count) return;
  keptOf<kNative>(key, counter, threshold, i, kept);
  for (int half = 0; half < 2 && i < count; ++half, i += kLanes)
    storeSomeAs<kNative>(y, i, loadSomeAs<kNative>(x, i, count - i) * where(kept[half], factors), count - i);
}
template <bool kNative>
LOOM_INLINE void dropoutRangeBody(NoiseKey key, std::uint64_t counter, std::uint32_t threshold, float factor, Stored x,
                                  Stored y, std::int64_t count) {
  if (x.bf16 && y.bf16)
    dropped<kNative>(key, counter, threshold, factor, knownBf16(x), knownBf16(y), count);
  else if (x.bf16 || y.bf16)
    dropped<kNative>(key, counter, threshold, factor, x, y, count);
  else
    dropped<kNative>(key, counter, threshold, factor, knownF32(x), knownF32(y), count);
}
LOOM_CPU_KERNEL_NATIVE(void, dropoutRange,
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
