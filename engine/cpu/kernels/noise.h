#pragma once
// Philox words for many elements of one sample at once: what ops/noise.h defines word by word.
#include <cstdint>

#include "engine/cpu/kernels/stored.h"

namespace loom::cpu {

// The key of Philox(seed, stream), as base/philox.h mixes it.
struct NoiseKey {
  std::uint32_t low, high;
};
NoiseKey noiseKey(std::uint64_t seed, std::uint64_t stream);

// y = word(i) / 2^32 (upper 24 bits) >= p ? factor x : 0 for elements [0, count) of the sample with this counter.
// `threshold` = p 2^24, rounded up.
void dropoutSample(NoiseKey key, std::uint64_t counter, std::uint32_t threshold, float factor, Stored x, Stored y,
                   std::int64_t count);

}  // namespace loom::cpu
