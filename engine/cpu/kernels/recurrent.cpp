#include "engine/cpu/kernels/recurrent.h"

#include <algorithm>

#include "engine/cpu/kernels/simd.h"

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

LOOM_INLINE void lstmCellOfBody(Stored state, const float* product, Stored cBefore, float* c, Stored y,
                                std::int64_t hidden, std::int64_t first, std::int64_t last) {
  for (std::int64_t u = first; u < last; u += kLanes) {
    const std::int64_t n = last - u;
    const Vec i = sigmoid(loadGate(state, product, u, n)), f = sigmoid(loadGate(state, product, hidden + u, n));
    const Vec g = tanh(loadGate(state, product, 2 * hidden + u, n)),
              o = sigmoid(loadGate(state, product, 3 * hidden + u, n));
    const Vec cell = f * loadOr0(cBefore, u, n) + i * g;
    storeSome(state, u, i, n);
    storeSome(state, hidden + u, f, n);
    storeSome(state, 2 * hidden + u, g, n);
    storeSome(state, 3 * hidden + u, o, n);
    storeSome(state, 4 * hidden + u, cell, n);
    if (c != nullptr) storeSome(c + u, cell, n);
    storeSome(y, u, o * tanh(cell), n);
  }
}

LOOM_INLINE void lstmCellGradientOfBody(Stored state, Stored cBefore, Stored dy, const float* dh, float* dc, Stored da,
                                        std::int64_t hidden, std::int64_t first, std::int64_t last) {
  for (std::int64_t u = first; u < last; u += kLanes) {
    const std::int64_t n = last - u;
    const Vec i = loadSome(state, u, n), f = loadSome(state, hidden + u, n), g = loadSome(state, 2 * hidden + u, n);
    const Vec o = loadSome(state, 3 * hidden + u, n), t = tanh(loadSome(state, 4 * hidden + u, n));
    const Vec dhHere = loadOr0(dh, u, n) + loadSome(dy, u, n);
    const Vec dcHere = loadSome(dc + u, n) + dhHere * o * (1.0f - t * t);
    storeSome(da, u, dcHere * g * i * (1.0f - i), n);
    storeSome(da, hidden + u, dcHere * loadOr0(cBefore, u, n) * f * (1.0f - f), n);
    storeSome(da, 2 * hidden + u, dcHere * i * (1.0f - g * g), n);
    storeSome(da, 3 * hidden + u, dhHere * t * o * (1.0f - o), n);
    storeSome(dc + u, dcHere * f, n);
  }
}

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
    r = sigmoid(r);
    z = sigmoid(z);
    const Vec candidate = tanh(loadSome(state + 2 * hidden + j, n) + r * u);
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

LOOM_CPU_KERNEL(void, lstmCellOf,
                (Stored state, const float* product, Stored cBefore, float* c, Stored y, std::int64_t hidden,
                 std::int64_t first, std::int64_t last),
                (state, product, cBefore, c, y, hidden, first, last))
LOOM_CPU_KERNEL(void, lstmCellGradientOf,
                (Stored state, Stored cBefore, Stored dy, const float* dh, float* dc, Stored da, std::int64_t hidden,
                 std::int64_t first, std::int64_t last),
                (state, cBefore, dy, dh, dc, da, hidden, first, last))
LOOM_CPU_KERNEL(void, gruCellOf,
                (float* state, const float* bh, const float* hBefore, float* y, std::int64_t hidden, std::int64_t first,
                 std::int64_t last),
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
