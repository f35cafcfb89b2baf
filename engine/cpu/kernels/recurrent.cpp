#include "engine/cpu/kernels/recurrent.h"

#include <algorithm>

#include "engine/cpu/kernels/in_blocks.h"
#include "engine/cpu/kernels/native.h"

namespace loom::cpu {
namespace {

LOOM_INLINE Vec loadOr0(const float* p, std::int64_t at, std::int64_t count) {
  return p == nullptr ? Vec{} : loadSome(p + at, count);
}

LOOM_INLINE Vec loadOr0(const Stored& p, std::int64_t at, std::int64_t count) {
  return p ? loadSome(p, at, count) : Vec{};
}
// A gate before its nonlinearity.
LOOM_INLINE Vec loadGate(const Stored& state, const float* product, std::int64_t at, std::int64_t count) {
  const Vec given = loadSome(state, at, count);
  return product == nullptr ? given : given + loadSome(product + at, count);
}

// With AVX2, all in f32: units [u, u + 8).
LOOM_INLINE void lstmEight(float* state, const float* product, const float* cBefore, float* c, float* y,
                           std::int64_t hidden, std::int64_t u) {
  const auto gate = [&](std::int64_t at) __attribute__((always_inline)) {
    const Vec8 given = load8(state + at);
    return product == nullptr ? given : given + load8(product + at);
  };
  const Vec8 i = sigmoid(gate(u)), f = sigmoid(gate(hidden + u)), g = tanh(gate(2 * hidden + u)),
             o = sigmoid(gate(3 * hidden + u)), cell = cBefore == nullptr ? i * g : f * load8(cBefore + u) + i * g;
  store8(state + u, i);
  store8(state + hidden + u, f);
  store8(state + 2 * hidden + u, g);
  store8(state + 3 * hidden + u, o);
  store8(state + 4 * hidden + u, cell);
  if (c != nullptr) store8(c + u, cell);
  store8(y + u, o * tanh(cell));
}
LOOM_INLINE void lstmGradientEight(const float* state, const float* cBefore, const float* dy, const float* dh,
                                   float* dc, float* da, std::int64_t hidden, std::int64_t u) {
  const Vec8 i = load8(state + u), f = load8(state + hidden + u), g = load8(state + 2 * hidden + u),
             o = load8(state + 3 * hidden + u), t = tanh(load8(state + 4 * hidden + u)),
             dhHere = dh == nullptr ? load8(dy + u) : load8(dh + u) + load8(dy + u),
             dcHere = load8(dc + u) + dhHere * o * (1.0f - t * t);
  store8(da + u, dcHere * g * i * (1.0f - i));
  store8(da + hidden + u, cBefore == nullptr ? Vec8{} : dcHere * load8(cBefore + u) * f * (1.0f - f));
  store8(da + 2 * hidden + u, dcHere * i * (1.0f - g * g));
  store8(da + 3 * hidden + u, dhHere * t * o * (1.0f - o));
  store8(dc + u, dcHere * f);
}

// Units [u, u + n), n at most a vector's.
template <Level kNative>
LOOM_INLINE void lstmUnits(Stored state, const float* product, Stored cBefore, float* c, Stored y, std::int64_t hidden,
                           std::int64_t u, std::int64_t n) {
  const Vec i = sigmoidAs<kNative>(loadGate(state, product, u, n)),
            f = sigmoidAs<kNative>(loadGate(state, product, hidden + u, n));
  const Vec g = tanhAs<kNative>(loadGate(state, product, 2 * hidden + u, n)),
            o = sigmoidAs<kNative>(loadGate(state, product, 3 * hidden + u, n));
  const Vec cell = f * loadOr0(cBefore, u, n) + i * g;
  storeSomeAs<kNative>(state, u, i, n);
  storeSomeAs<kNative>(state, hidden + u, f, n);
  storeSomeAs<kNative>(state, 2 * hidden + u, g, n);
  storeSomeAs<kNative>(state, 3 * hidden + u, o, n);
  storeSomeAs<kNative>(state, 4 * hidden + u, cell, n);
  if (c != nullptr) storeSome(c + u, cell, n);
  storeSomeAs<kNative>(y, u, o * tanhAs<kNative>(cell), n);
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
  if (kNative.inHalves() && !state.bf16 && !y.bf16 && !cBefore.bf16)
    for (; first + 8 <= last; first += 8)
      lstmEight(wideNumbers(state), product, wideNumbers(cBefore), c, wideNumbers(y), hidden, first);
  lstmRange<kNative>(state, product, cBefore, c, y, hidden, first, last);
}

template <Level kNative>
LOOM_INLINE void lstmGradientUnits(Stored state, Stored cBefore, Stored dy, const float* dh, float* dc, Stored da,
                                   std::int64_t hidden, std::int64_t u, std::int64_t n) {
  const Vec i = loadSome(state, u, n), f = loadSome(state, hidden + u, n), g = loadSome(state, 2 * hidden + u, n);
  const Vec o = loadSome(state, 3 * hidden + u, n), t = tanhAs<kNative>(loadSome(state, 4 * hidden + u, n));
  const Vec dhHere = loadOr0(dh, u, n) + loadSome(dy, u, n);
  const Vec dcHere = loadSome(dc + u, n) + dhHere * o * (1.0f - t * t);
  storeSomeAs<kNative>(da, u, dcHere * g * i * (1.0f - i), n);
  storeSomeAs<kNative>(da, hidden + u, dcHere * loadOr0(cBefore, u, n) * f * (1.0f - f), n);
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
  if (kNative.inHalves() && !state.bf16 && !dy.bf16 && !da.bf16 && !cBefore.bf16)
    for (; first + 8 <= last; first += 8)
      lstmGradientEight(wideNumbers(state), wideNumbers(cBefore), wideNumbers(dy), dh, dc, wideNumbers(da), hidden,
                        first);
  lstmGradientRange<kNative>(state, cBefore, dy, dh, dc, da, hidden, first, last);
}

template <Level kNative>
LOOM_INLINE void gruCellOfBody(float* state, const float* bh, const float* hBefore, float* y, std::int64_t hidden,
                               std::int64_t first, std::int64_t last) {
  for (std::int64_t j = first; j < last; j += kLanes) {
    const std::int64_t n = last - j;
    Vec r = loadSome(state + j, n), z = loadSome(state + hidden + j, n), u = loadSome(state + 3 * hidden + j, n);
    if (bh != nullptr) {
      r += loadSome(bh + j, n);
      z += loadSome(bh + hidden + j, n);
      u += loadSome(bh + 2 * hidden + j, n);
    }
    r = sigmoidAs<kNative>(r);
    z = sigmoidAs<kNative>(z);
    const Vec candidate = tanhAs<kNative>(loadSome(state + 2 * hidden + j, n) + r * u);
    storeSome(state + j, r, n);
    storeSome(state + hidden + j, z, n);
    storeSome(state + 2 * hidden + j, candidate, n);
    storeSome(state + 3 * hidden + j, u, n);
    storeSome(y + j, (1.0f - z) * candidate + z * loadOr0(hBefore, j, n), n);
  }
}

LOOM_INLINE void gruCellGradientOfBody(const float* state, const float* hBefore, Stored dy, const float* dhProduct,
                                       float* dhDirect, Stored a, Stored k, std::int64_t hidden, std::int64_t first,
                                       std::int64_t last) {
  for (std::int64_t j = first; j < last; j += kLanes) {
    const std::int64_t n = last - j;
    const Vec r = loadSome(state + j, n), z = loadSome(state + hidden + j, n),
              candidate = loadSome(state + 2 * hidden + j, n);
    const Vec u = loadSome(state + 3 * hidden + j, n);
    const Vec dh = loadSome(dhDirect + j, n) + loadOr0(dhProduct, j, n) + loadSome(dy, j, n);
    const Vec dn = dh * (1.0f - z) * (1.0f - candidate * candidate);
    const Vec dr = dn * u * r * (1.0f - r), dz = dh * (loadOr0(hBefore, j, n) - candidate) * z * (1.0f - z);
    storeSome(a, j, dr, n);
    storeSome(k, j, dr, n);
    storeSome(a, hidden + j, dz, n);
    storeSome(k, hidden + j, dz, n);
    storeSome(a, 2 * hidden + j, dn, n);
    storeSome(k, 2 * hidden + j, dn * r, n);
    storeSome(dhDirect + j, dh * z, n);
  }
}

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
LOOM_CPU_KERNEL(void, gruCellGradientOf,
                (const float* state, const float* hBefore, Stored dy, const float* dhProduct, float* dhDirect, Stored a,
                 Stored k, std::int64_t hidden, std::int64_t first, std::int64_t last),
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

}  // namespace loom::cpu
