#include "engine/cpu/kernels/pooling.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "engine/cpu/kernels/native.h"

namespace loom::cpu {
namespace {

struct Window {
  std::int64_t from[3], to[3];  // of the input, clipped
  std::int64_t inside;
};

// Calls f(sample's offset in x, window, offset in y) in the order of y.
template <class F>
LOOM_INLINE void forEachPlace(const PoolingGeometry& g, std::int64_t firstSample, std::int64_t lastSample, F f) {
  const std::int64_t sampleX = g.input[0] * g.input[1] * g.input[2] * g.channels;
  const std::int64_t sampleY = g.output[0] * g.output[1] * g.output[2] * g.channels;
  for (std::int64_t n = firstSample; n < lastSample; ++n) {
    std::int64_t y = n * sampleY;
    std::int64_t at[3];
    for (at[0] = 0; at[0] < g.output[0]; ++at[0]) {
      for (at[1] = 0; at[1] < g.output[1]; ++at[1]) {
        for (at[2] = 0; at[2] < g.output[2]; ++at[2]) {
          Window w;
          w.inside = 1;
          for (int i = 0; i < 3; ++i) {
            const auto k = static_cast<std::size_t>(i);
            const std::int64_t start = at[i] * g.strides[k] - g.before[k];
            w.from[i] = std::max<std::int64_t>(start, 0);
            w.to[i] = std::min(start + g.kernel[k], g.input[k]);
            w.inside *= std::max<std::int64_t>(w.to[i] - w.from[i], 0);
          }
          f(n * sampleX, w, y);
          y += g.channels;
        }
      }
    }
  }
}

template <class F>
LOOM_INLINE void forEachTap(const PoolingGeometry& g, const Window& w, F f) {
  for (std::int64_t d = w.from[0]; d < w.to[0]; ++d) {
    for (std::int64_t h = w.from[1]; h < w.to[1]; ++h) {
      for (std::int64_t v = w.from[2]; v < w.to[2]; ++v) f(((d * g.input[1] + h) * g.input[2] + v) * g.channels);
    }
  }
}

// Windows of 2 x 2 that lie within the image, and whole vectors of channels: what most networks pool. Their taps are
// known to the compiler then.
bool areFour(const PoolingGeometry& g) {
  const std::array<std::int64_t, 3> four{1, 2, 2};
  bool within = g.channels % kLanes == 0;
  for (std::size_t i = 0; i < 3; ++i)
    within = within && g.kernel[i] == four[i] && g.before[i] == 0 &&
             (g.output[i] - 1) * g.strides[i] + g.kernel[i] <= g.input[i];
  return within;
}
template <bool kFour, class F>
LOOM_INLINE void forEachTapOf(const PoolingGeometry& g, const Window& w, F f) {
  if constexpr (kFour) {
    const std::int64_t row = g.input[2] * g.channels,
                       first = (w.from[0] * g.input[1] + w.from[1]) * row + w.from[2] * g.channels;
    f(first);
    f(first + g.channels);
    f(first + row);
    f(first + row + g.channels);
  } else {
    forEachTap(g, w, f);
  }
}

template <Level kNative, bool kFour>
LOOM_INLINE void maxima(const PoolingGeometry& g, Stored x, Stored y, std::int64_t first, std::int64_t last) {
  typedef VecFor<kNative> V;
  forEachPlace(
      g, first, last, [&](std::int64_t sample, const Window& w, std::int64_t out) __attribute__((always_inline)) {
        for (std::int64_t c = 0; c < g.channels; c += kLanes) {
          const std::int64_t n = kFour ? kLanes : std::min(kLanes, g.channels - c);
          V best = splatOfAll<V>(-__builtin_inff()), nan{};
          forEachTapOf<kFour>(
              g, w, [&](std::int64_t tap) __attribute__((always_inline)) {
                const V v = loadFor<kNative>(x, sample + tap + c, n);
                best = choose(v > best, v, best);
                nan = choose(isNan(v), v, nan);
              });
          storeSomeAs<kNative>(y, out + c, choose(isNan(nan), nan, best),
                               n);  // to the bit, or its gradient would not find it
        }
      });
}

template <Level kNative>
LOOM_INLINE void maxPoolingRangeBody(const PoolingGeometry& g, Stored x, Stored y, std::int64_t first,
                                     std::int64_t last) {
  if (x.bf16 && y.bf16 && areFour(g))
    maxima<kNative, true>(g, knownBf16(x), knownBf16(y), first, last);
  else if (x.bf16 || y.bf16)
    maxima<kNative, false>(g, x, y, first, last);
  else if (areFour(g))
    maxima<kNative, true>(g, knownF32(x), knownF32(y), first, last);
  else
    maxima<kNative, false>(g, knownF32(x), knownF32(y), first, last);
}

// `kExact`: windowsTile(), each number is written once and nothing is to be cleared.
template <Level kNative, bool kFour, bool kExact>
LOOM_INLINE void gradientOfMaxima(const PoolingGeometry& g, Stored x, Stored y, Stored dy, Stored dx, bool positiveOnly,
                                  std::int64_t first, std::int64_t last) {
  typedef VecFor<kNative> V;
  const std::int64_t sampleX = g.input[0] * g.input[1] * g.input[2] * g.channels;
  if (!kExact)
    std::memset(dx.from(first * sampleX).at, 0, static_cast<std::size_t>((last - first) * sampleX) * sizeof(float));
  forEachPlace(
      g, first, last, [&](std::int64_t sample, const Window& w, std::int64_t out) __attribute__((always_inline)) {
        for (std::int64_t c = 0; c < g.channels; c += kLanes) {
          const std::int64_t n = kFour ? kLanes : std::min(kLanes, g.channels - c);
          const V top = loadFor<kNative>(y, out + c, n);
          // What is left to give: all of dy until the first element that is the maximum, bit for bit.
          V left = loadFor<kNative>(dy, out + c, n);
          if (positiveOnly) left = choose(top > 0.0f, left, V{});
          forEachTapOf<kFour>(
              g, w, [&](std::int64_t tap) __attribute__((always_inline)) {
                const V v = loadFor<kNative>(x, sample + tap + c, n);
                const V mine = whereSame<kNative>(v, top, left);
                left = without(left, mine);
                const std::int64_t to = sample + tap + c;
                storeSomeAs<kNative>(dx, to, kExact ? mine : loadFor<kNative>(dx, to, n) + mine, n);
              });
        }
      });
}

template <Level kNative>
LOOM_INLINE void maxPoolingGradientRangeBody(const PoolingGeometry& g, Stored x, Stored y, Stored dy, Stored dx,
                                             bool positiveOnly, std::int64_t first, std::int64_t last) {
  const bool exact = windowsTile(g), four = exact && areFour(g);
  if (four && x.bf16 && y.bf16 && dy.bf16 && dx.bf16)
    gradientOfMaxima<kNative, true, true>(g, knownBf16(x), knownBf16(y), knownBf16(dy), knownBf16(dx), positiveOnly,
                                          first, last);
  else if (four && !x.bf16 && !y.bf16 && !dy.bf16 && !dx.bf16)
    gradientOfMaxima<kNative, true, true>(g, knownF32(x), knownF32(y), knownF32(dy), knownF32(dx), positiveOnly, first,
                                          last);
  else if (exact)
    gradientOfMaxima<kNative, false, true>(g, x, y, dy, dx, positiveOnly, first, last);
  else if (!x.bf16 && !y.bf16 && !dy.bf16)
    gradientOfMaxima<kNative, false, false>(g, knownF32(x), knownF32(y), knownF32(dy), knownF32(dx), positiveOnly,
                                            first, last);
  else
    gradientOfMaxima<kNative, false, false>(g, x, y, dy, knownF32(dx), positiveOnly, first, last);
}

template <Level kNative>
LOOM_INLINE void averagePoolingRangeBody(const PoolingGeometry& g, bool includePadding, Stored x, Stored y,
                                         std::int64_t first, std::int64_t last) {
  typedef VecFor<kNative> V;
  const std::int64_t whole = g.kernel[0] * g.kernel[1] * g.kernel[2];
  forEachPlace(
      g, first, last, [&](std::int64_t sample, const Window& w, std::int64_t out) __attribute__((always_inline)) {
        const float share = 1.0f / static_cast<float>(includePadding ? whole : w.inside);
        for (std::int64_t c = 0; c < g.channels; c += kLanes) {
          const std::int64_t n = std::min(kLanes, g.channels - c);
          V sum{};
          forEachTap(
              g, w, [&](std::int64_t tap) __attribute__((always_inline)) {
                sum += loadFor<kNative>(x, sample + tap + c, n);
              });
          storeSomeAs<kNative>(y, out + c, sum * share, n);
        }
      });
}

template <Level kNative>
LOOM_INLINE void averagePoolingGradientRangeBody(const PoolingGeometry& g, bool includePadding, Stored dy, Stored dx,
                                                 std::int64_t first, std::int64_t last) {
  typedef VecFor<kNative> V;
  const std::int64_t whole = g.kernel[0] * g.kernel[1] * g.kernel[2];
  const std::int64_t sampleX = g.input[0] * g.input[1] * g.input[2] * g.channels;
  const bool once = dx.bf16;  // windows do not overlap: nothing to add to
  if (!once)
    std::memset(dx.from(first * sampleX).at, 0, static_cast<std::size_t>((last - first) * sampleX) * sizeof(float));
  forEachPlace(
      g, first, last, [&](std::int64_t sample, const Window& w, std::int64_t out) __attribute__((always_inline)) {
        const float share = 1.0f / static_cast<float>(includePadding ? whole : w.inside);
        for (std::int64_t c = 0; c < g.channels; c += kLanes) {
          const std::int64_t n = std::min(kLanes, g.channels - c);
          const V mine = loadFor<kNative>(dy, out + c, n) * share;
          forEachTap(
              g, w, [&](std::int64_t tap) __attribute__((always_inline)) {
                const std::int64_t to = sample + tap + c;
                storeSomeAs<kNative>(dx, to, once ? mine : loadFor<kNative>(dx, to, n) + mine, n);
              });
        }
      });
}

LOOM_CPU_KERNEL_NATIVE(void, maxPoolingRange,
                       (const PoolingGeometry& g, Stored x, Stored y, std::int64_t first, std::int64_t last),
                       (g, x, y, first, last))
LOOM_CPU_KERNEL_NATIVE(void, maxPoolingGradientRange,
                       (const PoolingGeometry& g, Stored x, Stored y, Stored dy, Stored dx, bool positiveOnly,
                        std::int64_t first, std::int64_t last),
                       (g, x, y, dy, dx, positiveOnly, first, last))
LOOM_CPU_KERNEL_HALVES(void, averagePoolingRange,
                       (const PoolingGeometry& g, bool padding, Stored x, Stored y, std::int64_t first,
                        std::int64_t last),
                       (g, padding, x, y, first, last))
LOOM_CPU_KERNEL_HALVES(void, averagePoolingGradientRange,
                       (const PoolingGeometry& g, bool padding, Stored dy, Stored dx, std::int64_t first,
                        std::int64_t last),
                       (g, padding, dy, dx, first, last))

}  // namespace

bool windowsTile(const PoolingGeometry& g) {
  for (std::size_t i = 0; i < 3; ++i)
    if (g.kernel[i] != g.strides[i] || g.before[i] != 0 || g.input[i] != g.output[i] * g.strides[i]) return false;
  return true;
}

void maxPooling(const PoolingGeometry& g, Stored x, Stored y, std::int64_t first, std::int64_t last) {
  maxPoolingRange(g, x, y, first, last);
}
void maxPoolingGradient(const PoolingGeometry& g, Stored x, Stored y, Stored dy, Stored dx, bool positiveOnly,
                        std::int64_t first, std::int64_t last) {
  maxPoolingGradientRange(g, x, y, dy, dx, positiveOnly, first, last);
}
void averagePooling(const PoolingGeometry& g, bool includePadding, Stored x, Stored y, std::int64_t first,
                    std::int64_t last) {
  averagePoolingRange(g, includePadding, x, y, first, last);
}
void averagePoolingGradient(const PoolingGeometry& g, bool includePadding, Stored dy, Stored dx, std::int64_t first,
                            std::int64_t last) {
  averagePoolingGradientRange(g, includePadding, dy, dx, first, last);
}

}  // namespace loom::cpu
