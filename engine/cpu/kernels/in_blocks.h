#pragma once
// Kernels that know f32 alone over numbers of either type: what is in bf16 is widened a block at a time into a buffer
// that stays in the level-1 cache, and what such a kernel gives is rounded out of one.
#include <algorithm>

#include "engine/cpu/kernels/stored.h"

namespace loom::cpu {

constexpr std::int64_t kWideBlock = 1024;

inline float* wideNumbers(Stored at) {
  return reinterpret_cast<float*>(at.at);
}

// The numbers in f32: where they stand, or in `buffer`.
inline const float* wideOf(Stored from, float* buffer, std::int64_t count) {
  if (!from.bf16) return wideNumbers(from);
  widen(from, buffer, count);
  return buffer;
}

// f(a, b, to, count); b may be absent, `to` may be one of the others.
template <class F>
void inBlocks(Stored a, Stored b, Stored to, std::int64_t count, const F& f) {
  if (!a.bf16 && !b.bf16 && !to.bf16) return f(wideNumbers(a), wideNumbers(b), wideNumbers(to), count);
  alignas(64) float wide[3][kWideBlock];
  for (std::int64_t first = 0; first < count; first += kWideBlock) {
    const std::int64_t n = std::min(kWideBlock, count - first);
    const Stored out = to.from(first);
    float* result = to.bf16 ? wide[2] : wideNumbers(out);
    f(wideOf(a.from(first), wide[0], n), wideOf(b.from(first), wide[1], n), result, n);
    if (to.bf16) copyStored(inF32(result), out, n);
  }
}

}  // namespace loom::cpu
