#include "engine/cpu/kernels/stored.h"

#include "engine/cpu/kernels/simd.h"

namespace loom::cpu {
namespace {

LOOM_INLINE void addStoredRangeBody(Stored a, Stored b, Stored mask, bool relu, Stored to, std::int64_t count) {
  const Vec floor = relu ? Vec{} : splat(-__builtin_inff());
  for (std::int64_t i = 0; i < count; i += kLanes) {
    const std::int64_t n = count - i;
    Vec v = loadSome(a, i, n);
    if (b) v += loadSome(b, i, n);
    if (mask) v = where(loadSome(mask, i, n) > 0.0f, v);
    storeSome(to, i, v < floor ? floor : v, n);
  }
}

LOOM_INLINE void widenRangeBody(Stored from, float* to, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += kLanes) storeSome(to + i, loadSome(from, i, count - i), count - i);
}

LOOM_CPU_KERNEL(void, addStoredRange, (Stored a, Stored b, Stored mask, bool relu, Stored to, std::int64_t count),
                (a, b, mask, relu, to, count))
LOOM_CPU_KERNEL(void, widenRange, (Stored from, float* to, std::int64_t count), (from, to, count))

}  // namespace

void addStored(Stored a, Stored b, Stored mask, bool relu, Stored to, std::int64_t count) {
  addStoredRange(a, b, mask, relu, to, count);
}
void widen(Stored from, float* to, std::int64_t count) {
  widenRange(from, to, count);
}

}  // namespace loom::cpu
