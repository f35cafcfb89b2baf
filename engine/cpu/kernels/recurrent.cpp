#include "engine/cpu/kernels/recurrent.h"

#include <algorithm>

#include "engine/cpu/kernels/in_blocks.h"
#include "engine/cpu/kernels/native.h"

namespace loom::cpu {
namespace {

template <Level kNative>
LOOM_INLINE VecFor<kNative> loadOr0(const float* p, std::int64_t at, std::int64_t count) {
  return p == nullptr ? VecFor<kNative>{} : loadSomeOf<VecFor<kNative>>(p + at, count);
}

template <Level kNative>
LOOM_INLINE VecFor<kNative> loadOr0(const Stored& p, std::int64_t at, std::int64_t count) {
  return p ? loadFor<kNative>(p, at, count) : VecFor<kNative>{};
}
// A gate before its nonlinearity.
template <Level kNative>
LOOM_INLINE VecFor<kNative> loadGate(const Stored& state, const float* product, std::int64_t at, std::int64_t count) {
  const auto given = loadFor<kNative>(state, at, count);
  return product == nullptr ? given : given + loadSomeOf<VecFor<kNative>>(product + at, count);
}

// The state of the samples after this one, whose rows follow, into the level-2 cache: from the end of a thread's units
// on the processor would have to look ahead to the next row. A few lines behind the last sample are fetched in vain.
LOOM_INLINE void fetchState(const Stored& state, std::int64_t hidden, std::int64_t u, int parts) {
  constexpr std::int64_t kRowsAhead = 2, kLine = 64;
  const std::int64_t number = state.bf16 ? 2 : 4;
  if (u * number % kLine != 0) return;
  const std::byte* const row = state.at + (kRowsAhead * 5 * hidden + u) * number;
  for (int part = 0; part < parts; ++part) __builtin_prefetch(row + part * hidden * number, 0, 2);
}

// Units [u, u + n), n at most a vector's.
template <Level kNative>
LOOM_INLINE void lstmUnits(Stored state, const float* product, Stored cBefore, float* c, Stored y, std::int64_t hidden,
                           std::int64_t u, std::int64_t n) {
  typedef VecFor<kNative> V;
  fetchState(state, hidden, u, 4);
  const V i = sigmoidAs<kNative>(loadGate<kNative>(state, product, u, n)),
          f = sigmoidAs<kNative>(loadGate<kNative>(state, product, hidden + u, n));
  const V g = tanhAs<kNative>(loadGate<kNative>(state, product, 2 * hidden + u, n)),
          o = sigmoidAs<kNative>(loadGate<kNative>(state, product, 3 * hidden + u, n));
  const V cell = f * loadOr0<kNative>(cBefore, u, n) + i * g;
  storeSomeAs<kNative>(state, u, i, n);
  storeSomeAs<kNative>(state, hidden + u, f, n);
  storeSomeAs<kNative>(state, 2 * hidden + u, g, n);
  storeSomeAs<kNative>(state, 3 * hidden + u, o, n);
  storeSomeAs<kNative>(state, 4 * hidden + u, cell, n);
  if (c != nullptr) storeSome(c + u, cell, n);
  storeSomeAs<kNative>(y, u, o * tanhAs<kNative>(cell), n);
}
// With AVX2 in f32 each nonlinearity is a pass of its own over the units, which are in the level-1 cache: the processor
// looks ahead far enough for several vectors of one, not for all five of a cell, of which the last waits for the first.
// Units [u, last), as many as are whole vectors; where it ended.
LOOM_INLINE std::int64_t lstmInPasses(float* state, const float* product, const float* cBefore, float* c, float* y,
                                      std::int64_t hidden, std::int64_t u, std::int64_t last) {
  const std::int64_t first = u, end = first + (last - first) / kLanes * kLanes;
  for (std::int64_t gate = 0; gate < 4; ++gate) {
    float* to = state + gate * hidden;
    for (u = first; u < end; u += kLanes) {
      Two x = loadOf<Two>(to + u);
      if (product != nullptr) x += loadOf<Two>(product + gate * hidden + u);
      store(to + u, gate == 2 ? tanhAs<kInHalves>(x) : sigmoidAs<kInHalves>(x));
    }
  }
  for (u = first; u < end; u += kLanes) {
    Two cell = loadOf<Two>(state + u) * loadOf<Two>(state + 2 * hidden + u);
    if (cBefore != nullptr) cell += loadOf<Two>(state + hidden + u) * loadOf<Two>(cBefore + u);
    store(state + 4 * hidden + u, cell);
    if (c != nullptr) store(c + u, cell);
    store(y + u, loadOf<Two>(state + 3 * hidden + u) * tanhAs<kInHalves>(cell));
  }
  return end;
}

template <Level kNative>
LOOM_INLINE void lstmRange(Stored state, const float* product, Stored cBefore, float* c, Stored y, std::int64_t hidden,
                           std::int64_t first, std::int64_t last) {
  std::int64_t u = first;
  for (; u + kLanes <= last; u += kLanes) lstmUnits<kNative>(state, product, cBefore, c, y, hidden, u, kLanes);
  if (u < last) lstmUnits<kNative>(state, product, cBefore, c, y, hidden, u, last - u);
}
template <Level kNative>
LOOM_INLINE void lstmCellOfBody(Stored state, const float* product, Stored cBefore, float* c, Stored y,
                                std::int64_t hidden, std::int64_t first, std::int64_t last) {
  // The compiler is told the types once, not asked at each number.
  if (kNative && state.bf16 && y.bf16)
    return lstmRange<kNative>(knownBf16(state), product, cBefore, c, knownBf16(y), hidden, first, last);
  if (kNative.inHalves() && !state.bf16 && !cBefore.bf16 && !y.bf16) {
    const auto of = [](const Stored& numbers) { return reinterpret_cast<float*>(numbers.at); };
    first = lstmInPasses(of(state), product, of(cBefore), c, of(y), hidden, first, last);
  }
  lstmRange<kNative>(state, product, cBefore, c, y, hidden, first, last);
}

template <Level kNative>
LOOM_INLINE void lstmGradientUnits(Stored state, Stored cBefore, Stored dy, const float* dh, float* dc, Stored da,
                                   std::int64_t hidden, std::int64_t u, std::int64_t n) {
  typedef VecFor<kNative> V;
  fetchState(state, hidden, u, 5);
  const V i = loadFor<kNative>(state, u, n), f = loadFor<kNative>(state, hidden + u, n),
          g = loadFor<kNative>(state, 2 * hidden + u, n);
  const V o = loadFor<kNative>(state, 3 * hidden + u, n),
          t = tanhAs<kNative>(loadFor<kNative>(state, 4 * hidden + u, n));
  const V dhHere = loadOr0<kNative>(dh, u, n) + loadFor<kNative>(dy, u, n);
  const V dcHere = loadSomeOf<V>(dc + u, n) + dhHere * o * (1.0f - t * t);
  storeSomeAs<kNative>(da, u, dcHere * g * i * (1.0f - i), n);
  storeSomeAs<kNative>(da, hidden + u, dcHere * loadOr0<kNative>(cBefore, u, n) * f * (1.0f - f), n);
  storeSomeAs<kNative>(da, 2 * hidden + u, dcHere * i * (1.0f - g * g), n);
  storeSomeAs<kNative>(da, 3 * hidden + u, dhHere * t * o * (1.0f - o), n);
  storeSome(dc + u, dcHere * f, n);
}
template <Level kNative>
LOOM_INLINE void lstmGradientRange(Stored state, Stored cBefore, Stored dy, const float* dh, float* dc, Stored da,
                                   std::int64_t hidden, std::int64_t first, std::int64_t last) {
  std::int64_t u = first;
  for (; u + kLanes <= last; u += kLanes) lstmGradientUnits<kNative>(state, cBefore, dy, dh, dc, da, hidden, u, kLanes);
  if (u < last) lstmGradientUnits<kNative>(state, cBefore, dy, dh, dc, da, hidden, u, last - u);
}
template <Level kNative>
LOOM_INLINE void lstmCellGradientOfBody(Stored state, Stored cBefore, Stored dy, const float* dh, float* dc, Stored da,
                                        std::int64_t hidden, std::int64_t first, std::int64_t last) {
  if (kNative && state.bf16 && dy.bf16 && da.bf16)
    return lstmGradientRange<kNative>(knownBf16(state), cBefore, knownBf16(dy), dh, dc, knownBf16(da), hidden, first,
                                      last);
  if (kNative.inHalves() && !state.bf16 && !cBefore.bf16 && !dy.bf16 && !da.bf16)
    return lstmGradientRange<kNative>(knownF32(state), knownF32(cBefore), knownF32(dy), dh, dc, knownF32(da), hidden,
                                      first, last);
  lstmGradientRange<kNative>(state, cBefore, dy, dh, dc, da, hidden, first, last);
}

template <Level kNative>
LOOM_INLINE void gruCellOfBody(float* state, const float* bh, const float* hBefore, float* y, std::int64_t hidden,
                               std::int64_t first, std::int64_t last) {
  typedef VecFor<kNative> V;
  for (std::int64_t j = first; j < last; j += kLanes) {
    const std::int64_t n = last - j;
    V r = loadSomeOf<V>(state + j, n), z = loadSomeOf<V>(state + hidden + j, n),
      u = loadSomeOf<V>(state + 3 * hidden + j, n);
    if (bh != nullptr) {
      r += loadSomeOf<V>(bh + j, n);
      z += loadSomeOf<V>(bh + hidden + j, n);
      u += loadSomeOf<V>(bh + 2 * hidden + j, n);
    }
    r = sigmoidAs<kNative>(r);
    z = sigmoidAs<kNative>(z);
    const V candidate = tanhAs<kNative>(loadSomeOf<V>(state + 2 * hidden + j, n) + r * u);
    storeSome(state + j, r, n);
    storeSome(state + hidden + j, z, n);
    storeSome(state + 2 * hidden + j, candidate, n);
    storeSome(state + 3 * hidden + j, u, n);
    storeSome(y + j, (1.0f - z) * candidate + z * loadOr0<kNative>(hBefore, j, n), n);
  }
}

template <Level kNative>
LOOM_INLINE void gruCellGradientOfBody(const float* state, const float* hBefore, Stored dy, const float* dhProduct,
                                       float* dhDirect, Stored a, Stored k, std::int64_t hidden, std::int64_t first,
                                       std::int64_t last) {
  typedef VecFor<kNative> V;
  for (std::int64_t j = first; j < last; j += kLanes) {
    const std::int64_t n = last - j;
    const V r = loadSomeOf<V>(state + j, n), z = loadSomeOf<V>(state + hidden + j, n),
            candidate = loadSomeOf<V>(state + 2 * hidden + j, n);
    const V u = loadSomeOf<V>(state + 3 * hidden + j, n);
    const V dh = loadSomeOf<V>(dhDirect + j, n) + loadOr0<kNative>(dhProduct, j, n) + loadFor<kNative>(dy, j, n);
    const V dn = dh * (1.0f - z) * (1.0f - candidate * candidate);
    const V dr = dn * u * r * (1.0f - r), dz = dh * (loadOr0<kNative>(hBefore, j, n) - candidate) * z * (1.0f - z);
    storeSomeAs<kNative>(a, j, dr, n);
    storeSomeAs<kNative>(k, j, dr, n);
    storeSomeAs<kNative>(a, hidden + j, dz, n);
    storeSomeAs<kNative>(k, hidden + j, dz, n);
    storeSomeAs<kNative>(a, 2 * hidden + j, dn, n);
    storeSomeAs<kNative>(k, 2 * hidden + j, dn * r, n);
    storeSome(dhDirect + j, dh * z, n);
  }
}

template <Level kNative>
LOOM_INLINE void addColumnsOfBody(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride,
                                  std::int64_t rows, std::int64_t units, bool add) {
  for (std::int64_t row = 0; row < rows; row += 8) {
    for (std::int64_t unit = 0; unit < units; unit += 8) {
      float* const at = to + row * toStride + unit;
      const auto put = [=](int r, Vec8 v) __attribute__((always_inline)) {
        store8(at + r * toStride, add ? load8(at + r * toStride) + v : v);
      };
      transposed8(from + unit * fromStride + row, fromStride, put);
    }
  }
}
LOOM_CPU_KERNEL_HALVES(void, addColumnsOf,
                       (const float* from, std::int64_t fromStride, float* to, std::int64_t toStride, std::int64_t rows,
                        std::int64_t units, bool add),
                       (from, fromStride, to, toStride, rows, units, add))

LOOM_CPU_KERNEL_NATIVE(void, lstmCellOf,
                       (Stored state, const float* product, Stored cBefore, float* c, Stored y, std::int64_t hidden,
                        std::int64_t first, std::int64_t last),
                       (state, product, cBefore, c, y, hidden, first, last))
LOOM_CPU_KERNEL_NATIVE(void, lstmCellGradientOf,
                       (Stored state, Stored cBefore, Stored dy, const float* dh, float* dc, Stored da,
                        std::int64_t hidden, std::int64_t first, std::int64_t last),
                       (state, cBefore, dy, dh, dc, da, hidden, first, last))
LOOM_CPU_KERNEL_NATIVE(void, gruCellOf,
                       (float* state, const float* bh, const float* hBefore, float* y, std::int64_t hidden,
                        std::int64_t first, std::int64_t last),
                       (state, bh, hBefore, y, hidden, first, last))
LOOM_CPU_KERNEL_HALVES(void, gruCellGradientOf,
                       (const float* state, const float* hBefore, Stored dy, const float* dhProduct, float* dhDirect,
                        Stored a, Stored k, std::int64_t hidden, std::int64_t first, std::int64_t last),
                       (state, hBefore, dy, dhProduct, dhDirect, a, k, hidden, first, last))

}  // namespace

void lstmCell(Stored state, const float* product, Stored cBefore, float* c, Stored y, std::int64_t hidden,
              std::int64_t first, std::int64_t last) {
  lstmCellOf(state, product, cBefore, c, y, hidden, first, last);
}
void lstmCellGradient(Stored state, Stored cBefore, Stored dy, const float* dh, float* dc, Stored da,
                      std::int64_t hidden, std::int64_t first, std::int64_t last) {
  lstmCellGradientOf(state, cBefore, dy, dh, dc, da, hidden, first, last);
}
void gruCell(float* state, const float* bh, const float* hBefore, float* y, std::int64_t hidden, std::int64_t first,
             std::int64_t last) {
  gruCellOf(state, bh, hBefore, y, hidden, first, last);
}
void gruCellGradient(const float* state, const float* hBefore, Stored dy, const float* dhProduct, float* dhDirect,
                     Stored a, Stored k, std::int64_t hidden, std::int64_t first, std::int64_t last) {
  gruCellGradientOf(state, hBefore, dy, dhProduct, dhDirect, a, k, hidden, first, last);
}

void addColumns(const float* from, std::int64_t fromStride, float* to, std::int64_t toStride, std::int64_t rows,
                std::int64_t units, bool add) {
  addColumnsOf(from, fromStride, to, toStride, rows, units, add);
}

}  // namespace loom::cpu
