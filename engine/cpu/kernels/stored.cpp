#include "engine/cpu/kernels/stored.h"

#include <algorithm>
#include <cstring>

#include "engine/cpu/kernels/native.h"

namespace loom::cpu {
namespace {

template <Level kNative>
LOOM_INLINE void addSome(Stored a, Stored b, Stored mask, VecFor<kNative> floor, Stored to, std::int64_t i,
                         std::int64_t n) {
  VecFor<kNative> v = loadFor<kNative>(a, i, n);
  if (b) v += loadFor<kNative>(b, i, n);
  if (mask) v = where(loadFor<kNative>(mask, i, n) > 0.0f, v);
  storeSomeAs<kNative>(to, i, atLeast<kNative>(v, floor), n);
}
template <Level kNative>
LOOM_INLINE void addAll(Stored a, Stored b, Stored mask, bool relu, Stored to, std::int64_t count) {
  typedef VecFor<kNative> V;
  const V floor = relu ? V{} : splatOfAll<V>(-__builtin_inff());
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) addSome<kNative>(a, b, mask, floor, to, i, kLanes);
  if (i < count) addSome<kNative>(a, b, mask, floor, to, i, count - i);
}
template <Level kNative>
LOOM_INLINE void addStoredRangeBody(Stored a, Stored b, Stored mask, bool relu, Stored to, std::int64_t count) {
  // What networks in bf16 do, with what there is known to the compiler.
  if (kNative && a.bf16 && to.bf16) {
    if (b && b.bf16 && mask && mask.bf16)
      return addAll<kNative>(knownBf16(a), knownBf16(b), knownBf16(mask), relu, knownBf16(to), count);
    if (b && b.bf16 && !mask) return addAll<kNative>(knownBf16(a), knownBf16(b), {}, relu, knownBf16(to), count);
    if (!b && mask && mask.bf16) return addAll<kNative>(knownBf16(a), {}, knownBf16(mask), relu, knownBf16(to), count);
  }
  if (kNative && b && a.bf16 != b.bf16 && !to.bf16 && !mask) {  // to a stream that is kept in f32
    const Stored &wide = a.bf16 ? b : a, &half = a.bf16 ? a : b;
    return addAll<kNative>(knownF32(wide), knownBf16(half), {}, relu, knownF32(to), count);
  }
  if (kNative.inHalves() && !a.bf16 && !b.bf16 && !mask.bf16 && !to.bf16) {  // with AVX2 nothing else is kept
    if (b && mask) return addAll<kNative>(knownF32(a), knownF32(b), knownF32(mask), relu, knownF32(to), count);
    if (b) return addAll<kNative>(knownF32(a), knownF32(b), {}, relu, knownF32(to), count);
    if (mask) return addAll<kNative>(knownF32(a), {}, knownF32(mask), relu, knownF32(to), count);
  }
  addAll<kNative>(a, b, mask, relu, to, count);
}

LOOM_INLINE void widenRangeBody(Stored from, float* to, std::int64_t count) {
  const Stored half = knownBf16(from);
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(to + i, loadSome(half, i, kLanes));
  if (i < count) storePart(to + i, loadSome(half, i, count - i), count - i);
}

// By the instruction, which takes denormal numbers for 0, as everything in a step does.
LOOM_TARGET_AVX512_BF16 void roundNative(const float* from, std::uint16_t* to, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    VecHalf half;
    asm("vcvtneps2bf16 %1, %0" : "=v"(half) : "v"(load(from + i)));
    *reinterpret_cast<VecHalfUnaligned*>(to + i) = half;
  }
  for (; i < count; ++i) to[i] = toBf16(from[i]);
}

LOOM_CPU_KERNEL_NATIVE(void, addStoredRange,
                       (Stored a, Stored b, Stored mask, bool relu, Stored to, std::int64_t count),
                       (a, b, mask, relu, to, count))
LOOM_CPU_KERNEL(void, widenRange, (Stored from, float* to, std::int64_t count), (from, to, count))

}  // namespace

void addStored(Stored a, Stored b, Stored mask, bool relu, Stored to, std::int64_t count) {
  addStoredRange(a, b, mask, relu, to, count);
}
void widen(Stored from, float* to, std::int64_t count) {
  if (!from.bf16) return static_cast<void>(std::memcpy(to, from.at, static_cast<std::size_t>(count) * sizeof(float)));
  widenRange(from, to, count);
}
void fillStored(Stored number, Stored to, std::int64_t count) {
  const float value = numberAt(number, 0);
  if (to.bf16)
    std::fill_n(reinterpret_cast<std::uint16_t*>(to.at), count, toBf16(value));
  else
    std::fill_n(reinterpret_cast<float*>(to.at), count, value);
}
void copyStored(Stored from, Stored to, std::int64_t count) {
  if (from.bf16 == to.bf16)
    std::memcpy(to.at, from.at, static_cast<std::size_t>(count) * (to.bf16 ? 2 : 4));
  else if (from.bf16)
    widen(from, reinterpret_cast<float*>(to.at), count);
  else
    (multipliesBf16() ? roundNative : roundToBf16)(reinterpret_cast<const float*>(from.at),
                                                   reinterpret_cast<std::uint16_t*>(to.at), count);
}

}  // namespace loom::cpu
