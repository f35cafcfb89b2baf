#include "engine/cpu/kernels/winograd.h"

#include <algorithm>

#include "engine/cpu/kernels/winograd_multiply.h"

namespace loom::cpu {
namespace {

constexpr float kA = 0.70710678118654752f, kB = 1.41421356237309505f;  // the points +-a and +-b; a b = 1
constexpr float kA3 = 0.35355339059327376f, kB3 = 2.82842712474619010f;

// B': six numbers of a row or a column into the six points.
LOOM_INLINE void toPoints(const Vec (&d)[6], Vec (&t)[6]) {
  const Vec even = d[4] - 2.0f * d[2], odd = kA * d[3] - kB * d[1];
  const Vec evenB = d[4] - 0.5f * d[2], oddB = kB * d[3] - kA * d[1];
  t[0] = d[0] + d[4] - 2.5f * d[2];
  t[1] = even + odd;
  t[2] = even - odd;
  t[3] = evenB + oddB;
  t[4] = evenB - oddB;
  t[5] = d[1] + d[5] - 2.5f * d[3];
}
// A'
LOOM_INLINE void fromPoints(const Vec (&m)[6], Vec (&y)[4]) {
  const Vec sum = m[1] + m[2], difference = m[1] - m[2], sumB = m[3] + m[4], differenceB = m[3] - m[4];
  y[0] = m[0] + sum + sumB;
  y[1] = kA * difference + kB * differenceB;
  y[2] = 0.5f * sum + 2.0f * sumB;
  y[3] = kA3 * difference + kB3 * differenceB + m[5];
}
// A
LOOM_INLINE void gradientToPoints(const Vec (&y)[4], Vec (&t)[6]) {
  const Vec even = y[0] + 0.5f * y[2], odd = kA * y[1] + kA3 * y[3];
  const Vec evenB = y[0] + 2.0f * y[2], oddB = kB * y[1] + kB3 * y[3];
  t[0] = y[0];
  t[1] = even + odd;
  t[2] = even - odd;
  t[3] = evenB + oddB;
  t[4] = evenB - oddB;
  t[5] = y[3];
}
// G
LOOM_INLINE void weightToPoints(const Vec (&w)[3], Vec (&t)[6]) {
  const Vec even = (w[0] + 0.5f * w[2]) * (-2.0f / 3), odd = w[1] * (-2.0f / 3 * kA);
  const Vec evenB = (w[0] + 2.0f * w[2]) * (1.0f / 6), oddB = w[1] * (1.0f / 6 * kB);
  t[0] = w[0];
  t[1] = even + odd;
  t[2] = even - odd;
  t[3] = evenB + oddB;
  t[4] = evenB - oddB;
  t[5] = w[2];
}
// G'
LOOM_INLINE void weightFromPoints(const Vec (&m)[6], Vec (&w)[3]) {
  const Vec sum = (m[1] + m[2]) * (-2.0f / 3), difference = (m[1] - m[2]) * (-2.0f / 3 * kA);
  const Vec sumB = (m[3] + m[4]) * (1.0f / 6), differenceB = (m[3] - m[4]) * (1.0f / 6 * kB);
  w[0] = m[0] + sum + sumB;
  w[1] = difference + differenceB;
  w[2] = 0.5f * sum + 2.0f * sumB + m[5];
}

// Scratch: 36 matrices of tiles x channels. Sixteen channels of all tiles stand together, so that a tile's vector is a
// line of the cache, and a line lies between matrices, so that they do not all fall on the same sets of it.
struct Matrices {
  std::int64_t groupStride, partStride;
  Matrices(std::int64_t channels, std::int64_t tiles)
      : groupStride(tiles * kLanes), partStride((channels / kLanes * tiles + 1) * kLanes) {}
  std::int64_t floats() const { return 36 * partStride; }
};

// Tiles that are computed together. Their matrices should stay in the level-2 cache; but where the weights do not, each
// reading of them should serve many.
std::int64_t blockOf(const WinogradGeometry& g) {
  const std::int64_t fitting = (std::int64_t{512} << 10) / (36 * 4 * (g.inputs + g.outputs));
  const std::int64_t least = winogradWeightFloats(g) * 4 > (std::int64_t{1} << 20) ? 48 : 24;
  return std::clamp<std::int64_t>(fitting / kWinogradTiles * kWinogradTiles, least, 96);
}

// Where a tile lies: its sample and the first result that it computes.
struct Place {
  std::int64_t sample, row, column;
};
LOOM_INLINE Place placeOf(const WinogradGeometry& g, std::int64_t tile) {
  const std::int64_t across = g.tilesAcross(), of = across * g.tilesDown(), inside = tile % of;
  return {tile / of, inside / across * 4, inside % across * 4};
}

// The part of a window of an image that lies in it: what is outside is 0.
struct Window {
  std::int64_t corner;  // number of the element that stands at the window's corner, were the image as large
  std::int64_t rowStride, columnStride;
  std::int64_t firstRow, lastRow, firstColumn, lastColumn;
  template <std::int64_t kSize>
  bool whole() const {
    return firstRow == 0 && firstColumn == 0 && lastRow == kSize && lastColumn == kSize;
  }
};
template <std::int64_t kSize>
LOOM_INLINE Window windowOf(std::int64_t sample, std::int64_t row, std::int64_t column, std::int64_t height,
                            std::int64_t width, std::int64_t channels) {
  const auto bounded = [](std::int64_t value) { return std::clamp<std::int64_t>(value, 0, kSize); };
  return {((sample * height + row) * width + column) * channels,
          width * channels,
          channels,
          bounded(-row),
          bounded(height - row),
          bounded(-column),
          bounded(width - column)};
}

template <bool kHalf, bool kWhole>
LOOM_INLINE Vec numbersAt(Stored from, const Window& w, std::int64_t channel, std::int64_t i, std::int64_t j) {
  if (!kWhole && (i < w.firstRow || i >= w.lastRow || j < w.firstColumn || j >= w.lastColumn)) return Vec{};
  return loadSome(Stored{from.at, kHalf}, w.corner + i * w.rowStride + j * w.columnStride + channel, kLanes);
}

// B' x B of sixteen channels of one tile.
template <bool kHalf, bool kWhole>
LOOM_INLINE void transformInput(Stored x, const Window& w, std::int64_t channel, float* to, std::int64_t partStride) {
  Vec rows[6][6];
#pragma GCC unroll 6
  for (int i = 0; i < 6; ++i) {
    Vec d[6];
#pragma GCC unroll 6
    for (int j = 0; j < 6; ++j) d[j] = numbersAt<kHalf, kWhole>(x, w, channel, i, j);
    toPoints(d, rows[i]);
  }
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    const Vec d[6] = {rows[0][j], rows[1][j], rows[2][j], rows[3][j], rows[4][j], rows[5][j]};
    Vec t[6];
    toPoints(d, t);
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) store(to + (i * 6 + j) * partStride, t[i]);
  }
}

// A dy A' of sixteen channels of one tile.
template <bool kHalf, bool kWhole>
LOOM_INLINE void transformGradient(Stored dy, const Window& w, std::int64_t channel, float* to,
                                   std::int64_t partStride) {
  Vec rows[4][6];
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    Vec d[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) d[j] = numbersAt<kHalf, kWhole>(dy, w, channel, i, j);
    gradientToPoints(d, rows[i]);
  }
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    const Vec d[4] = {rows[0][j], rows[1][j], rows[2][j], rows[3][j]};
    Vec t[6];
    gradientToPoints(d, t);
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) store(to + (i * 6 + j) * partStride, t[i]);
  }
}

// A' m A of sixteen channels of one tile into what of y lies in the image.
template <bool kHalf, bool kWhole>
LOOM_INLINE void transformOutput(const float* from, std::int64_t partStride, Vec bias, Vec floor, Stored y,
                                 const Window& w, std::int64_t channel) {
  Vec columns[4][6];
#pragma GCC unroll 6
  for (int j = 0; j < 6; ++j) {
    Vec m[6], t[4];
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) m[i] = load(from + (i * 6 + j) * partStride);
    fromPoints(m, t);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) columns[i][j] = t[i];
  }
#pragma GCC unroll 4
  for (int i = 0; i < 4; ++i) {
    Vec t[4];
    fromPoints(columns[i], t);
    if (!kWhole && i >= w.lastRow) return;
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      if (!kWhole && j >= w.lastColumn) break;
      const Vec v = t[j] + bias;
      storeSome(Stored{y.at, kHalf}, w.corner + i * w.rowStride + j * w.columnStride + channel,
                v < floor ? floor : v, kLanes);
    }
  }
}

// Calls f(std::bool_constant<half>, std::bool_constant<whole>).
template <class F>
LOOM_INLINE void withTypes(bool half, bool whole, F f) {
  if (half)
    whole ? f(std::true_type{}, std::true_type{}) : f(std::true_type{}, std::false_type{});
  else
    whole ? f(std::false_type{}, std::true_type{}) : f(std::false_type{}, std::false_type{});
}

LOOM_INLINE void transformInputsBody(const WinogradGeometry& g, Stored x, std::int64_t first, std::int64_t last,
                                     float* to, std::int64_t groupStride, std::int64_t partStride) {
  for (std::int64_t tile = first; tile < last; ++tile, to += kLanes) {
    const Place at = placeOf(g, tile);
    const Window w = windowOf<6>(at.sample, at.row - g.top, at.column - g.left, g.height, g.width, g.inputs);
    withTypes(x.bf16, w.whole<6>(), [&](auto half, auto whole) __attribute__((always_inline)) {
      for (std::int64_t c = 0; c < g.inputs; c += kLanes)
        transformInput<half.value, whole.value>(x, w, c, to + c / kLanes * groupStride, partStride);
    });
  }
}
LOOM_INLINE void transformGradientsBody(const WinogradGeometry& g, Stored dy, std::int64_t first, std::int64_t last,
                                        float* to, std::int64_t groupStride, std::int64_t partStride) {
  for (std::int64_t tile = first; tile < last; ++tile, to += kLanes) {
    const Place at = placeOf(g, tile);
    const Window w = windowOf<4>(at.sample, at.row, at.column, g.outHeight, g.outWidth, g.outputs);
    withTypes(dy.bf16, w.whole<4>(), [&](auto half, auto whole) __attribute__((always_inline)) {
      for (std::int64_t c = 0; c < g.outputs; c += kLanes)
        transformGradient<half.value, whole.value>(dy, w, c, to + c / kLanes * groupStride, partStride);
    });
  }
}
LOOM_INLINE void transformOutputsBody(const WinogradGeometry& g, const float* from, std::int64_t groupStride,
                                      std::int64_t partStride, const float* bias, bool relu, Stored y,
                                      std::int64_t first, std::int64_t last) {
  const Vec floor = relu ? Vec{} : splat(-__builtin_inff());
  for (std::int64_t tile = first; tile < last; ++tile, from += kLanes) {
    const Place at = placeOf(g, tile);
    const Window w = windowOf<4>(at.sample, at.row, at.column, g.outHeight, g.outWidth, g.outputs);
    withTypes(y.bf16, w.whole<4>(), [&](auto half, auto whole) __attribute__((always_inline)) {
      for (std::int64_t c = 0; c < g.outputs; c += kLanes)
        transformOutput<half.value, whole.value>(from + c / kLanes * groupStride, partStride,
                                                 bias == nullptr ? Vec{} : load(bias + c), floor, y, w, c);
    });
  }
}

// A unit: its input, the first of its sixteen outputs, and where they stand in a panel of transformed weights.
struct Unit {
  std::int64_t input, output;
  Unit(const WinogradGeometry& g, std::int64_t unit) : input(unit % g.inputs), output(unit / g.inputs * kLanes) {}
};

LOOM_INLINE void winogradWeightsOfBody(const WinogradGeometry& g, const float* weight, bool turned, float* transformed,
                                       std::int64_t first, std::int64_t last) {
  const std::int64_t outputStride = turned ? 9 : g.inputs * 9, inputStride = turned ? g.outputs * 9 : 9;
  for (std::int64_t u = first; u < last; ++u) {
    const Unit unit(g, u);
    const float* from = weight + unit.output * outputStride + unit.input * inputStride;
    alignas(64) float taps[9][kLanes];
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      for (int tap = 0; tap < 9; ++tap) taps[turned ? 8 - tap : tap][lane] = from[lane * outputStride + tap];
    }
    Vec rows[3][6];
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) {
      const Vec w[3] = {load(taps[3 * i]), load(taps[3 * i + 1]), load(taps[3 * i + 2])};
      weightToPoints(w, rows[i]);
    }
    const std::int64_t panel = unit.output / kWinogradPanel,
                       width = std::min(kWinogradPanel, g.outputs - panel * kWinogradPanel);
    float* to = transformed + panel * kWinogradPanel * g.inputs + unit.input * width + unit.output % kWinogradPanel;
#pragma GCC unroll 6
    for (int j = 0; j < 6; ++j) {
      const Vec w[3] = {rows[0][j], rows[1][j], rows[2][j]};
      Vec t[6];
      weightToPoints(w, t);
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) store(to + (i * 6 + j) * g.inputs * g.outputs, t[i]);
    }
  }
}

LOOM_INLINE void winogradWeightGradientOfBody(const WinogradGeometry& g, const float* sums, int parts, float* dw,
                                              bool add, std::int64_t first, std::int64_t last) {
  const std::int64_t matrix = g.inputs * g.outputs;
  for (std::int64_t u = first; u < last; ++u) {
    const Unit unit(g, u);
    const float* from = sums + unit.input * g.outputs + unit.output;
    Vec rows[6][3];
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) {
      Vec m[6];
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j) {
        m[j] = load(from + (i * 6 + j) * matrix);
        for (int part = 1; part < parts; ++part) m[j] += load(from + (i * 6 + j + 36 * part) * matrix);
      }
      weightFromPoints(m, rows[i]);
    }
    alignas(64) float taps[9][kLanes];
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) {
      const Vec m[6] = {rows[0][j], rows[1][j], rows[2][j], rows[3][j], rows[4][j], rows[5][j]};
      Vec w[3];
      weightFromPoints(m, w);
#pragma GCC unroll 3
      for (int i = 0; i < 3; ++i) store(taps[3 * i + j], w[i]);
    }
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      float* to = dw + ((unit.output + lane) * g.inputs + unit.input) * 9;
      for (int tap = 0; tap < 9; ++tap) to[tap] = taps[tap][lane] + (add ? to[tap] : 0);
    }
  }
}

LOOM_CPU_KERNEL(void, transformInputs,
                (const WinogradGeometry& g, Stored x, std::int64_t first, std::int64_t last, float* to,
                 std::int64_t groupStride, std::int64_t partStride),
                (g, x, first, last, to, groupStride, partStride))
LOOM_CPU_KERNEL(void, transformGradients,
                (const WinogradGeometry& g, Stored dy, std::int64_t first, std::int64_t last, float* to,
                 std::int64_t groupStride, std::int64_t partStride),
                (g, dy, first, last, to, groupStride, partStride))
LOOM_CPU_KERNEL(void, transformOutputs,
                (const WinogradGeometry& g, const float* from, std::int64_t groupStride, std::int64_t partStride,
                 const float* bias, bool relu, Stored y, std::int64_t first, std::int64_t last),
                (g, from, groupStride, partStride, bias, relu, y, first, last))
LOOM_CPU_KERNEL(void, winogradWeightsOf,
                (const WinogradGeometry& g, const float* weight, bool turned, float* transformed, std::int64_t first,
                 std::int64_t last),
                (g, weight, turned, transformed, first, last))
LOOM_CPU_KERNEL(void, winogradWeightGradientOf,
                (const WinogradGeometry& g, const float* sums, int parts, float* dw, bool add, std::int64_t first,
                 std::int64_t last),
                (g, sums, parts, dw, add, first, last))

}  // namespace

std::int64_t winogradScratch(const WinogradGeometry& g) {
  const std::int64_t block = blockOf(g);
  return Matrices(g.inputs, block).floats() + Matrices(g.outputs, block).floats();
}

void winogradWeights(const WinogradGeometry& g, const float* weight, bool turned, float* transformed,
                     std::int64_t firstUnit, std::int64_t lastUnit) {
  winogradWeightsOf(g, weight, turned, transformed, firstUnit, lastUnit);
}

void winogradConvolution(const WinogradGeometry& g, Stored x, const float* transformed, const float* bias, bool relu,
                         Stored y, std::int64_t first, std::int64_t last, float* scratch) {
  const std::int64_t block = blockOf(g);
  const Matrices in(g.inputs, block), out(g.outputs, block);
  float* results = scratch + in.floats();
  for (std::int64_t tile = first; tile < last; tile += block) {
    const std::int64_t count = std::min(block, last - tile);
    transformInputs(g, x, tile, tile + count, scratch, in.groupStride, in.partStride);
    multiplyTiles({.tiles = count,
                   .inputs = g.inputs,
                   .outputs = g.outputs,
                   .groupIn = in.groupStride,
                   .partIn = in.partStride,
                   .groupOut = out.groupStride,
                   .partOut = out.partStride},
                  scratch, transformed, results);
    transformOutputs(g, results, out.groupStride, out.partStride, bias, relu, y, tile, tile + count);
  }
}

void winogradWeightSums(const WinogradGeometry& g, Stored x, Stored dy, std::int64_t first, std::int64_t last,
                        float* sums, float* scratch) {
  const std::int64_t block = blockOf(g);
  const Matrices in(g.inputs, block), out(g.outputs, block);
  float* gradients = scratch + in.floats();
  if (first >= last) std::fill_n(sums, winogradWeightFloats(g), 0.0f);
  for (std::int64_t tile = first; tile < last; tile += block) {
    const std::int64_t count = std::min(block, last - tile);
    transformInputs(g, x, tile, tile + count, scratch, in.groupStride, in.partStride);
    transformGradients(g, dy, tile, tile + count, gradients, out.groupStride, out.partStride);
    multiplyTransposed({.tiles = count,
                        .inputs = g.inputs,
                        .outputs = g.outputs,
                        .groupIn = in.groupStride,
                        .partIn = in.partStride,
                        .groupOut = out.groupStride,
                        .partOut = out.partStride},
                       scratch, gradients, tile > first, sums);
  }
}

void winogradWeightGradient(const WinogradGeometry& g, const float* sums, int parts, float* dw, bool add,
                            std::int64_t firstUnit, std::int64_t lastUnit) {
  winogradWeightGradientOf(g, sums, parts, dw, add, firstUnit, lastUnit);
}

}  // namespace loom::cpu
