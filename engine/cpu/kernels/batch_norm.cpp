#include "engine/cpu/kernels/batch_norm.h"

#include <algorithm>

#include "engine/cpu/kernels/native.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kRowBlock = 64;
constexpr std::int64_t kWide = 64;  // channels that are kept in registers at once

// Few channels: several rows are seen as one of 64 channels, so that sums do not wait for each other and constants stay
// in registers. 1 where the number of channels does not divide 64.
LOOM_INLINE std::int64_t foldOf(std::int64_t channels) {
  return channels < kWide && kWide % channels == 0 ? kWide / channels : 1;
}

LOOM_INLINE void spread(const float* from, std::int64_t channels, float* to) {
  for (std::int64_t i = 0; i < kWide; ++i) to[i] = from[i % channels];
}

template <Level kNative>
constexpr int kTogether = kNative.inHalves() ? 2 : 4;  // vectors

// Sums of two kinds by column. AVX2 has registers for those of two vectors, AVX-512 for four.
template <class V, int kVectors, class F>
LOOM_INLINE void sumColumns(std::int64_t rows, std::int64_t columns, std::int64_t channels, double* first,
                            double* second, F f) {
  for (std::int64_t r0 = 0; r0 < rows; r0 += kRowBlock) {
    const std::int64_t r1 = std::min(rows, r0 + kRowBlock);
    for (std::int64_t c = 0; c < columns; c += kWide) {
      alignas(64) float a[kWide], b[kWide];
      const std::int64_t width = std::min(kWide, columns - c);
      if (width == kWide) {
        for (std::int64_t left = 0; left < kWide; left += kVectors * kLanes) {
          V sums[kVectors] = {}, others[kVectors] = {};
          for (std::int64_t r = r0; r < r1; ++r) {
#pragma GCC unroll 4
            for (int v = 0; v < kVectors; ++v) {
              const std::int64_t at = c + left + v * kLanes;
              f(r * columns + at, at, kLanes, sums[v], others[v]);
            }
          }
#pragma GCC unroll 4
          for (int v = 0; v < kVectors; ++v) {
            store(a + left + v * kLanes, sums[v]);
            store(b + left + v * kLanes, others[v]);
          }
        }
      } else {
        for (std::int64_t v = 0; v < width; v += kLanes) {
          V one{}, other{};
          for (std::int64_t r = r0; r < r1; ++r) f(r * columns + c + v, c + v, std::min(kLanes, width - v), one, other);
          store(a + v, one);
          store(b + v, other);
        }
      }
      for (std::int64_t i = 0; i < width; ++i) {
        first[(c + i) % channels] += a[i];
        second[(c + i) % channels] += b[i];
      }
    }
  }
}

template <Level kNative>
LOOM_INLINE void addMomentsOf(Stored x, std::int64_t rows, std::int64_t channels, const float* shift, double* sums,
                              double* squares) {
  typedef VecFor<kNative> V;
  alignas(64) float wide[kWide];
  const std::int64_t fold = foldOf(channels), whole = rows / fold;
  const auto over = [&](Stored from, std::int64_t count, std::int64_t columns, const float* about)
      __attribute__((always_inline)) {
    sumColumns<V, kTogether<kNative>>(
        count, columns, channels, sums,
        squares, [=](std::int64_t at, std::int64_t c, std::int64_t n, V & a, V & b) __attribute__((always_inline)) {
          const V d = loadFor<kNative>(from, at, n) - loadSomeOf<V>(about + c, n);
          a += d;
          b += d * d;
        });
  };
  if (fold > 1) {
    spread(shift, channels, wide);
    over(x, whole, kWide, wide);
    over(x.from(whole * kWide), rows - whole * fold, channels, shift);
  } else {
    over(x, rows, channels, shift);
  }
}

template <Level kNative>
LOOM_INLINE void addGradientSumsOf(Stored x, Stored dy, Stored mask, std::int64_t rows, std::int64_t channels,
                                   const float* mean, double* sums, double* products) {
  typedef VecFor<kNative> V;
  alignas(64) float wide[kWide];
  const std::int64_t fold = foldOf(channels), whole = rows / fold;
  const auto over = [&](std::int64_t start, std::int64_t count, std::int64_t columns, const float* about)
      __attribute__((always_inline)) {
    const Stored px = x.from(start), pd = dy.from(start), pm = mask.from(start);
    if (mask) {
      sumColumns<V, kTogether<kNative>>(
          count, columns, channels, sums,
          products, [=](std::int64_t at, std::int64_t c, std::int64_t n, V & a, V & b) __attribute__((always_inline)) {
            const V g = wherePositive<kNative>(loadFor<kNative>(pm, at, n), loadFor<kNative>(pd, at, n));
            a += g;
            b += g * (loadFor<kNative>(px, at, n) - loadSomeOf<V>(about + c, n));
          });
    } else {
      sumColumns<V, kTogether<kNative>>(
          count, columns, channels, sums,
          products, [=](std::int64_t at, std::int64_t c, std::int64_t n, V & a, V & b) __attribute__((always_inline)) {
            const V g = loadFor<kNative>(pd, at, n);
            a += g;
            b += g * (loadFor<kNative>(px, at, n) - loadSomeOf<V>(about + c, n));
          });
    }
  };
  if (fold > 1) {
    spread(mean, channels, wide);
    over(0, whole, kWide, wide);
    over(whole * kWide, rows - whole * fold, channels, mean);
  } else {
    over(0, rows, channels, mean);
  }
}

// Calls f(element, channel, count) over rows x columns.
template <class F>
LOOM_INLINE void forEachVector(std::int64_t rows, std::int64_t columns, F f) {
  if (columns == kWide) {
    for (std::int64_t r = 0; r < rows; ++r) {
#pragma GCC unroll 4
      for (std::int64_t c = 0; c < kWide; c += kLanes) f(r * kWide + c, c, kLanes);
    }
    return;
  }
  const std::int64_t whole = columns / kLanes * kLanes;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < whole; c += kLanes) f(r * columns + c, c, kLanes);
    if (whole < columns) f(r * columns + whole, whole, columns - whole);
  }
}

template <Level kNative>
LOOM_INLINE void normaliseOf(const NormalisePass& pass, Stored x, Stored addend, Stored y, std::int64_t rows,
                             std::int64_t channels) {
  typedef VecFor<kNative> V;
  alignas(64) float wide[3][kWide];
  const std::int64_t fold = foldOf(channels), whole = rows / fold;
  const auto over = [&](std::int64_t start, std::int64_t count, std::int64_t columns, const float* mean,
                        const float* scale, const float* beta) __attribute__((always_inline)) {
    const Stored px = x.from(start), pa = addend.from(start), py = y.from(start);
    const V floor = pass.relu ? V{} : splatOfAll<V>(-__builtin_inff());
    if (addend) {
      forEachVector(
          count, columns, [=](std::int64_t at, std::int64_t c, std::int64_t n) __attribute__((always_inline)) {
            const V v = (loadFor<kNative>(px, at, n) - loadSomeOf<V>(mean + c, n)) * loadSomeOf<V>(scale + c, n) +
                        loadSomeOf<V>(beta + c, n) + loadFor<kNative>(pa, at, n);
            storeSomeAs<kNative>(py, at, atLeast<kNative>(v, floor), n);
          });
    } else {
      forEachVector(
          count, columns, [=](std::int64_t at, std::int64_t c, std::int64_t n) __attribute__((always_inline)) {
            const V v = (loadFor<kNative>(px, at, n) - loadSomeOf<V>(mean + c, n)) * loadSomeOf<V>(scale + c, n) +
                        loadSomeOf<V>(beta + c, n);
            storeSomeAs<kNative>(py, at, atLeast<kNative>(v, floor), n);
          });
    }
  };
  if (fold > 1) {
    spread(pass.mean, channels, wide[0]);
    spread(pass.scale, channels, wide[1]);
    spread(pass.beta, channels, wide[2]);
    over(0, whole, kWide, wide[0], wide[1], wide[2]);
    over(whole * kWide, rows - whole * fold, channels, pass.mean, pass.scale, pass.beta);
  } else {
    over(0, rows, channels, pass.mean, pass.scale, pass.beta);
  }
}

template <Level kNative>
LOOM_INLINE void normaliseGradientOf(const GradientPass& pass, Stored x, Stored dy, Stored mask, Stored dx,
                                     std::int64_t rows, std::int64_t channels) {
  typedef VecFor<kNative> V;
  alignas(64) float wide[4][kWide];
  const std::int64_t fold = foldOf(channels), whole = rows / fold;
  const auto over = [&](std::int64_t start, std::int64_t count, std::int64_t columns, const float* mean, const float* a,
                        const float* b, const float* c0) __attribute__((always_inline)) {
    const Stored px = x.from(start), pd = dy.from(start), pm = mask.from(start);
    const Stored to = dx.from(start);
    const auto one = [=](V g, std::int64_t at, std::int64_t c, std::int64_t n) __attribute__((always_inline)) {
      storeSomeAs<kNative>(to, at,
                           loadSomeOf<V>(a + c, n) * g -
                               loadSomeOf<V>(b + c, n) * (loadFor<kNative>(px, at, n) - loadSomeOf<V>(mean + c, n)) -
                               loadSomeOf<V>(c0 + c, n),
                           n);
    };
    if (mask) {
      forEachVector(
          count, columns, [=](std::int64_t at, std::int64_t c, std::int64_t n) __attribute__((always_inline)) {
            one(wherePositive<kNative>(loadFor<kNative>(pm, at, n), loadFor<kNative>(pd, at, n)), at, c, n);
          });
    } else {
      forEachVector(
          count, columns, [=](std::int64_t at, std::int64_t c, std::int64_t n) __attribute__((always_inline)) {
            one(loadFor<kNative>(pd, at, n), at, c, n);
          });
    }
  };
  if (fold > 1) {
    spread(pass.mean, channels, wide[0]);
    spread(pass.a, channels, wide[1]);
    spread(pass.b, channels, wide[2]);
    spread(pass.c, channels, wide[3]);
    over(0, whole, kWide, wide[0], wide[1], wide[2], wide[3]);
    over(whole * kWide, rows - whole * fold, channels, pass.mean, pass.a, pass.b, pass.c);
  } else {
    over(0, rows, channels, pass.mean, pass.a, pass.b, pass.c);
  }
}

// Each of the above; where all that it reads and writes is in bf16, as in the middle of a network, the compiler is told
// so; with AVX2, where nothing is kept in bf16, that all is in f32.
template <Level kNative>
LOOM_INLINE void addMomentsRangeBody(Stored x, std::int64_t rows, std::int64_t channels, const float* shift,
                                     double* sums, double* squares) {
  if (kNative.inHalves() && !x.bf16)
    addMomentsOf<kNative>(knownF32(x), rows, channels, shift, sums, squares);
  else
    addMomentsOf<kNative>(x, rows, channels, shift, sums, squares);
}
template <Level kNative>
LOOM_INLINE void addGradientSumsRangeBody(Stored x, Stored dy, Stored mask, std::int64_t rows, std::int64_t channels,
                                          const float* mean, double* sums, double* products) {
  if (x.bf16 && dy.bf16 && (!mask || mask.bf16))
    addGradientSumsOf<kNative>(knownBf16(x), knownBf16(dy), knownBf16(mask), rows, channels, mean, sums, products);
  else if (kNative.inHalves() && !x.bf16 && !dy.bf16 && !mask.bf16)
    addGradientSumsOf<kNative>(knownF32(x), knownF32(dy), knownF32(mask), rows, channels, mean, sums, products);
  else
    addGradientSumsOf<kNative>(x, dy, mask, rows, channels, mean, sums, products);
}
template <Level kNative>
LOOM_INLINE void normaliseRangeBody(const NormalisePass& pass, Stored x, Stored addend, Stored y, std::int64_t rows,
                                    std::int64_t channels) {
  if (x.bf16 && y.bf16 && (!addend || addend.bf16))
    normaliseOf<kNative>(pass, knownBf16(x), knownBf16(addend), knownBf16(y), rows, channels);
  else if (kNative.inHalves() && !x.bf16 && !y.bf16 && !addend.bf16)
    normaliseOf<kNative>(pass, knownF32(x), knownF32(addend), knownF32(y), rows, channels);
  else
    normaliseOf<kNative>(pass, x, addend, y, rows, channels);
}
template <Level kNative>
LOOM_INLINE void normaliseGradientRangeBody(const GradientPass& pass, Stored x, Stored dy, Stored mask, Stored dx,
                                            std::int64_t rows, std::int64_t channels) {
  if (x.bf16 && dy.bf16 && dx.bf16 && (!mask || mask.bf16))
    normaliseGradientOf<kNative>(pass, knownBf16(x), knownBf16(dy), knownBf16(mask), knownBf16(dx), rows, channels);
  else if (kNative.inHalves() && !x.bf16 && !dy.bf16 && !mask.bf16 && !dx.bf16)
    normaliseGradientOf<kNative>(pass, knownF32(x), knownF32(dy), knownF32(mask), knownF32(dx), rows, channels);
  else
    normaliseGradientOf<kNative>(pass, x, dy, mask, dx, rows, channels);
}

LOOM_CPU_KERNEL_NATIVE(void, addMomentsRange,
                       (Stored x, std::int64_t rows, std::int64_t channels, const float* shift, double* sums,
                        double* squares),
                       (x, rows, channels, shift, sums, squares))
LOOM_CPU_KERNEL_NATIVE(void, addGradientSumsRange,
                       (Stored x, Stored dy, Stored mask, std::int64_t rows, std::int64_t channels, const float* mean,
                        double* sums, double* products),
                       (x, dy, mask, rows, channels, mean, sums, products))
LOOM_CPU_KERNEL_NATIVE(void, normaliseRange,
                       (const NormalisePass& pass, Stored x, Stored addend, Stored y, std::int64_t rows,
                        std::int64_t channels),
                       (pass, x, addend, y, rows, channels))
LOOM_CPU_KERNEL_NATIVE(void, normaliseGradientRange,
                       (const GradientPass& pass, Stored x, Stored dy, Stored mask, Stored dx, std::int64_t rows,
                        std::int64_t channels),
                       (pass, x, dy, mask, dx, rows, channels))

}  // namespace

void addMoments(Stored x, std::int64_t rows, std::int64_t channels, const float* shift, double* sums, double* squares) {
  addMomentsRange(x, rows, channels, shift, sums, squares);
}
void normalise(const NormalisePass& pass, Stored x, Stored addend, Stored y, std::int64_t rows, std::int64_t channels) {
  normaliseRange(pass, x, addend, y, rows, channels);
}
void addGradientSums(Stored x, Stored dy, Stored mask, std::int64_t rows, std::int64_t channels, const float* mean,
                     double* sums, double* products) {
  addGradientSumsRange(x, dy, mask, rows, channels, mean, sums, products);
}
void normaliseGradient(const GradientPass& pass, Stored x, Stored dy, Stored mask, Stored dx, std::int64_t rows,
                       std::int64_t channels) {
  normaliseGradientRange(pass, x, dy, mask, dx, rows, channels);
}

}  // namespace loom::cpu
