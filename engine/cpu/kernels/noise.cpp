#include "engine/cpu/kernels/noise.h"

#include <type_traits>

#include "engine/cpu/kernels/native.h"

namespace loom::cpu {
namespace {

typedef std::uint64_t VecL __attribute__((vector_size(64)));
typedef std::uint64_t VecL4 __attribute__((vector_size(32)));
// Blocks of noise are computed in lanes of 64 bits: eight at once, with AVX2 four.
template <Level kNative>
using Longs = std::conditional_t<kNative.inHalves(), VecL4, VecL>;
template <Level kNative>
constexpr int kBlocks = sizeof(Longs<kNative>) / sizeof(std::uint64_t);
template <Level kNative>
constexpr int kVectors = kBlocks<kNative> * 4 / kLanes;  // of sixteen numbers

// The product of the lower halves of the lanes; without the instruction, of lanes whose upper halves are 0.
template <Level kNative, class L>
LOOM_INLINE L productOf(L a, L factor) {
  if constexpr (kNative || kNative.inHalves()) {
    L product;
    asm("vpmuludq %2, %1, %0" : "=v"(product) : "v"(a), "v"(factor));
    return product;
  } else {
    return a * factor;
  }
}

// kBlocks blocks of Philox4x32-10; word w of block l in words[w][l], upper halves zero.
template <Level kNative, class L>
LOOM_INLINE void blocksOf(NoiseKey key, std::uint64_t first, std::uint64_t counter, L (&words)[4]) {
  constexpr std::uint64_t kLow = 0xffffffffull;
  constexpr bool kHalves = kNative || kNative.inHalves();  // what stands above, the instruction does not read
  L block = L{} + first;
  if constexpr (kNative.inHalves())
    block += L{0, 1, 2, 3};
  else
    block += L{0, 1, 2, 3, 4, 5, 6, 7};
  L c0 = block & kLow, c1 = block >> 32, c2 = L{} + (counter & kLow), c3 = L{} + (counter >> 32);
  std::uint32_t k0 = key.low, k1 = key.high;
  for (int round = 0; round < 10; ++round) {
    const L p0 = productOf<kNative>(c0, L{} + 0xD2511F53ull), p1 = productOf<kNative>(c2, L{} + 0xCD9E8D57ull);
    c0 = (p1 >> 32) ^ c1 ^ k0;
    c1 = kHalves ? p1 : p1 & kLow;
    c2 = (p0 >> 32) ^ c3 ^ k1;
    c3 = kHalves ? p0 : p0 & kLow;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  words[0] = c0 & kLow;
  words[1] = c1 & kLow;
  words[2] = c2 & kLow;
  words[3] = c3 & kLow;
}

// Which of the kVectors * 16 numbers from the i-th one on are kept: all bits set.
template <Level kNative>
using Kept = std::conditional_t<kNative.inHalves(), TwoI, VecI>;
template <Level kNative>
LOOM_INLINE void keptOf(NoiseKey key, std::uint64_t counter, std::uint32_t threshold, std::int64_t i,
                        Kept<kNative> (&kept)[kVectors<kNative>]) {
  typedef Longs<kNative> L;
  L words[4];
  blocksOf<kNative>(key, static_cast<std::uint64_t>(i / 4), counter, words);
  // Words 0 1 and 2 3 of a block side by side, then the pairs of a block behind each other.
  const L left = words[0] | (words[1] << 32), right = words[2] | (words[3] << 32);
  const auto least = static_cast<std::int32_t>(threshold);  // at most 2^24
  if constexpr (kNative.inHalves()) {
    const L low = __builtin_shuffle(left, right, L{0, 4, 1, 5}), high = __builtin_shuffle(left, right, L{2, 6, 3, 7});
    kept[0] = {(Vec8I)((Vec8U)low >> 8) >= least, (Vec8I)((Vec8U)high >> 8) >= least};
  } else {
    const L low = __builtin_shuffle(left, right, L{0, 8, 1, 9, 2, 10, 3, 11});
    const L high = __builtin_shuffle(left, right, L{4, 12, 5, 13, 6, 14, 7, 15});
    kept[0] = (VecI)((VecU)low >> 8) >= least;
    kept[1] = (VecI)((VecU)high >> 8) >= least;
  }
}

template <Level kNative>
LOOM_INLINE void dropped(NoiseKey key, std::uint64_t counter, std::uint32_t threshold, float factor, Stored x, Stored y,
                         std::int64_t count) {
  constexpr int kCount = kVectors<kNative>;
  const auto factors = splatOfAll<VecFor<kNative>>(factor);
  Kept<kNative> kept[kCount];
  const auto put = [&](std::int64_t at, const Kept<kNative>& mask, std::int64_t n) __attribute__((always_inline)) {
    storeSomeAs<kNative>(y, at, loadFor<kNative>(x, at, n) * where(mask, factors), n);
  };
  std::int64_t i = 0;
  for (; i + kCount * kLanes <= count; i += kCount * kLanes) {
    keptOf<kNative>(key, counter, threshold, i, kept);
    put(i, kept[0], kLanes);
    if constexpr (kCount > 1) put(i + kLanes, kept[1], kLanes);
  }
  if (i == count) return;
  keptOf<kNative>(key, counter, threshold, i, kept);
  for (int v = 0; v < kCount && i < count; ++v, i += kLanes) put(i, kept[v], count - i);
}
template <Level kNative>
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
