#include "engine/cpu/kernels/winograd.h"

#include <algorithm>

#include "engine/cpu/kernels/native.h"
#include "engine/cpu/kernels/winograd_multiply.h"
#include "engine/cpu/kernels/winograd_points.h"

namespace loom::cpu {
namespace {

// Scratch: 36 matrices of tiles x channels. Sixteen channels of all tiles stand together, so that a tile's vector is a
// line of the cache, and a line lies between matrices, so that they do not all fall on the same sets of it.
struct Matrices {
  std::int64_t groupStride, partStride;
  Matrices(std::int64_t channels, std::int64_t tiles)
      : groupStride(tiles * kLanes), partStride((channels / kLanes * tiles + 1) * kLanes) {}
  std::int64_t floats() const { return 36 * partStride; }
};

std::int64_t roundUpToBlock(std::int64_t tiles) {
  return (tiles + kWinogradTiles - 1) / kWinogradTiles * kWinogradTiles;
}
// Tiles that are computed together. Their matrices should stay in the level-2 cache; but where the weights do not, each
// reading of them should serve many, and of sums that are written, too, more.
std::int64_t blockOf(const WinogradGeometry& g, bool sums) {
  const std::int64_t fitting = (std::int64_t{512} << 10) / (36 * 4 * (g.inputs + g.outputs));
  const std::int64_t mebibytes = winogradWeightFloats(g) * 4 >> 20;
  const std::int64_t least = sums ? (mebibytes > 4 ? 192 : mebibytes > 1 ? 48 : 24) : mebibytes > 16 ? 96 : 24;
  return roundUpToBlock(std::min(std::max(least, std::min<std::int64_t>(fitting, 96)), g.tiles()));
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
};
// How much of a window of kSize x kSize may be outside: nothing; the rows and columns at its edges, as where an image
// is padded by one; anything.
enum class Outside { nothing, edges, anything };
template <std::int64_t kSize>
LOOM_INLINE Outside outsideOf(const Window& w) {
  const std::int64_t missing = std::max(std::max(w.firstRow, w.firstColumn), kSize - std::min(w.lastRow, w.lastColumn));
  return missing == 0 ? Outside::nothing : missing == 1 ? Outside::edges : Outside::anything;
}
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

// What a transform is compiled for.
template <Level kNative_, bool kHalf_, Outside kOutside_>
struct Kind {
  static constexpr Level kNative = kNative_;
  static constexpr bool kHalf = kHalf_;
  typedef VecFor<kNative> V;
  static constexpr Outside kOutside = kOutside_;
};

// Sixteen channels of a window's element; 0 outside.
template <class K, int kSize>
LOOM_INLINE typename K::V numbersAt(Stored from, const Window& w, std::int64_t channel, int i, int j) {
  if (K::kOutside == Outside::anything || (K::kOutside == Outside::edges && (j == 0 || j == kSize - 1))) {
    if (j < w.firstColumn || j >= w.lastColumn) return typename K::V{};
  }
  return loadFor<K::kNative>(Stored{from.at, K::kHalf}, w.corner + i * w.rowStride + j * w.columnStride + channel,
                             kLanes);
}
template <class K, int kSize>
LOOM_INLINE bool hasRow(const Window& w, int i) {
  if (K::kOutside == Outside::anything || (K::kOutside == Outside::edges && (i == 0 || i == kSize - 1)))
    return i >= w.firstRow && i < w.lastRow;
  return true;
}

// The transforms below go through rows and then through columns in loops that must stay loops: unrolled, GCC keeps all
// 36 addresses and numbers in the stack and takes three times as many instructions.

// B' x B of sixteen channels of one tile.
template <class K>
LOOM_INLINE void transformInput(Stored x, const Window& w, std::int64_t channel, float* to, std::int64_t partStride) {
  typedef typename K::V V;
  V rows[6][6];
#pragma GCC unroll 1
  for (int i = 0; i < 6; ++i) {
    V d[6] = {};
    if (hasRow<K, 6>(w, i)) {
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j) d[j] = numbersAt<K, 6>(x, w, channel, i, j);
    }
    toPoints(d, rows[i]);
  }
#pragma GCC unroll 1
  for (int j = 0; j < 6; ++j, to += partStride) {
    const V d[6] = {rows[0][j], rows[1][j], rows[2][j], rows[3][j], rows[4][j], rows[5][j]};
    V t[6];
    toPoints(d, t);
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) store(to + i * 6 * partStride, t[i]);
  }
}

// A dy A' of sixteen channels of one tile.
template <class K>
LOOM_INLINE void transformGradient(Stored dy, const Window& w, std::int64_t channel, float* to,
                                   std::int64_t partStride) {
  typedef typename K::V V;
  V rows[4][6];
#pragma GCC unroll 1
  for (int i = 0; i < 4; ++i) {
    V d[4] = {};
    if (hasRow<K, 4>(w, i)) {
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) d[j] = numbersAt<K, 4>(dy, w, channel, i, j);
    }
    gradientToPoints(d, rows[i]);
  }
#pragma GCC unroll 1
  for (int j = 0; j < 6; ++j, to += partStride) {
    const V d[4] = {rows[0][j], rows[1][j], rows[2][j], rows[3][j]};
    V t[6];
    gradientToPoints(d, t);
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) store(to + i * 6 * partStride, t[i]);
  }
}

// A' m A of sixteen channels of one tile into what of y lies in the image.
template <class K>
LOOM_INLINE void transformOutput(const float* from, std::int64_t partStride, typename K::V bias, typename K::V floor,
                                 Stored y, const Window& w, std::int64_t channel) {
  typedef typename K::V V;
  V columns[6][4];
#pragma GCC unroll 1
  for (int j = 0; j < 6; ++j, from += partStride) {
    V m[6];
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) m[i] = loadOf<V>(from + i * 6 * partStride);
    fromPoints(m, columns[j]);
  }
  const int last = K::kOutside == Outside::nothing ? 4 : static_cast<int>(w.lastRow);
#pragma GCC unroll 1
  for (int i = 0; i < last; ++i) {
    const V m[6] = {columns[0][i], columns[1][i], columns[2][i], columns[3][i], columns[4][i], columns[5][i]};
    V t[4];
    fromPoints(m, t);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      if (K::kOutside != Outside::nothing && j >= w.lastColumn) break;
      const V v = t[j] + bias;
      storeSomeAs<K::kNative>(Stored{y.at, K::kHalf}, w.corner + i * w.rowStride + j * w.columnStride + channel,
                              atLeast<K::kNative>(v, floor), kLanes);
    }
  }
}

// Calls f(Kind) of what a tile is.
template <Level kNative, bool kHalf, class F>
LOOM_INLINE void withOutside(Outside outside, F f) {
  if (outside == Outside::nothing) return f(Kind<kNative, kHalf, Outside::nothing>{});
  if (outside == Outside::edges) return f(Kind<kNative, kHalf, Outside::edges>{});
  f(Kind<kNative, kHalf, Outside::anything>{});
}
template <Level kNative, class F>
LOOM_INLINE void withKind(bool half, Outside outside, F f) {
  if (half)
    withOutside<kNative, true>(outside, f);
  else
    withOutside<kNative, false>(outside, f);
}

template <Level kNative>
LOOM_INLINE void transformInputs(const WinogradGeometry& g, Stored x, std::int64_t first, std::int64_t last, float* to,
                                 const Matrices& matrices) {
  for (std::int64_t tile = first; tile < last; ++tile, to += kLanes) {
    const Place at = placeOf(g, tile);
    const Window w = windowOf<6>(at.sample, at.row - g.top, at.column - g.left, g.height, g.width, g.inputs);
    withKind<kNative>(
        x.bf16, outsideOf<6>(w), [&](auto kind) __attribute__((always_inline)) {
          for (std::int64_t c = 0; c < g.inputs; c += kLanes)
            transformInput<decltype(kind)>(x, w, c, to + c / kLanes * matrices.groupStride, matrices.partStride);
        });
  }
}
template <Level kNative>
LOOM_INLINE void transformGradients(const WinogradGeometry& g, Stored dy, std::int64_t first, std::int64_t last,
                                    float* to, const Matrices& matrices) {
  for (std::int64_t tile = first; tile < last; ++tile, to += kLanes) {
    const Place at = placeOf(g, tile);
    const Window w = windowOf<4>(at.sample, at.row, at.column, g.outHeight, g.outWidth, g.outputs);
    withKind<kNative>(
        dy.bf16, outsideOf<4>(w), [&](auto kind) __attribute__((always_inline)) {
          for (std::int64_t c = 0; c < g.outputs; c += kLanes)
            transformGradient<decltype(kind)>(dy, w, c, to + c / kLanes * matrices.groupStride, matrices.partStride);
        });
  }
}
template <Level kNative>
LOOM_INLINE void transformOutputs(const WinogradGeometry& g, const float* from, const Matrices& matrices,
                                  const float* bias, bool relu, Stored y, std::int64_t first, std::int64_t last) {
  typedef VecFor<kNative> V;
  const V floor = relu ? V{} : splatOfAll<V>(-__builtin_inff());
  for (std::int64_t tile = first; tile < last; ++tile, from += kLanes) {
    const Place at = placeOf(g, tile);
    const Window w = windowOf<4>(at.sample, at.row, at.column, g.outHeight, g.outWidth, g.outputs);
    withKind<kNative>(
        y.bf16, std::min(outsideOf<4>(w), Outside::edges), [&](auto kind) __attribute__((always_inline)) {
          for (std::int64_t c = 0; c < g.outputs; c += kLanes)
            transformOutput<decltype(kind)>(from + c / kLanes * matrices.groupStride, matrices.partStride,
                                            bias == nullptr ? V{} : loadOf<V>(bias + c), floor, y, w, c);
        });
  }
}

// A unit: its input, the first of its sixteen outputs, and where they stand in a panel of transformed weights.
struct Unit {
  std::int64_t input, output;
  Unit(const WinogradGeometry& g, std::int64_t unit) : input(unit % g.inputs), output(unit / g.inputs * kLanes) {}
};

template <Level kNative>
LOOM_INLINE void weightsOf(const WinogradGeometry& g, const float* weight, bool turned, float* transformed,
                           std::int64_t first, std::int64_t last) {
  typedef VecFor<kNative> V;
  const std::int64_t outputStride = turned ? 9 : g.inputs * 9, inputStride = turned ? g.outputs * 9 : 9;
  for (std::int64_t u = first; u < last; ++u) {
    const Unit unit(g, u);
    const float* from = weight + unit.output * outputStride + unit.input * inputStride;
    alignas(64) float taps[9][kLanes];
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      for (int tap = 0; tap < 9; ++tap) taps[turned ? 8 - tap : tap][lane] = from[lane * outputStride + tap];
    }
    V rows[3][6];
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) {
      const V w[3] = {loadOf<V>(taps[3 * i]), loadOf<V>(taps[3 * i + 1]), loadOf<V>(taps[3 * i + 2])};
      weightToPoints(w, rows[i]);
    }
    const std::int64_t panel = unit.output / kWinogradPanel,
                       width = std::min(kWinogradPanel, g.outputs - panel * kWinogradPanel);
    float* to = transformed + panel * kWinogradPanel * g.inputs + unit.input * width + unit.output % kWinogradPanel;
#pragma GCC unroll 6
    for (int j = 0; j < 6; ++j) {
      const V w[3] = {rows[0][j], rows[1][j], rows[2][j]};
      V t[6];
      weightToPoints(w, t);
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) store(to + (i * 6 + j) * winogradMatrixFloats(g), t[i]);
    }
  }
}

template <Level kNative>
LOOM_INLINE void weightGradientOf(const WinogradGeometry& g, const float* sums, int parts, float* dw, bool add,
                                  std::int64_t first, std::int64_t last) {
  typedef VecFor<kNative> V;
  const std::int64_t matrix = winogradMatrixFloats(g);
  for (std::int64_t u = first; u < last; ++u) {
    const Unit unit(g, u);
    const float* from = sums + unit.input * g.outputs + unit.output;
    V rows[6][3];
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) {
      V m[6];
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j) {
        m[j] = loadOf<V>(from + (i * 6 + j) * matrix);
        for (int part = 1; part < parts; ++part) m[j] += loadOf<V>(from + (i * 6 + j + 36 * part) * matrix);
      }
      weightFromPoints(m, rows[i]);
    }
    alignas(64) float taps[9][kLanes];
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j) {
      const V m[6] = {rows[0][j], rows[1][j], rows[2][j], rows[3][j], rows[4][j], rows[5][j]};
      V w[3];
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

// One of the above for each instruction set; body(true) is for AVX512-BF16.
#define LOOM_WINOGRAD(name, body, parameters, arguments)          \
  LOOM_TARGET_AVX512_BF16 void name##Native parameters {          \
    body(true) arguments;                                         \
  }                                                               \
  LOOM_TARGET_AVX512 void name##Avx512 parameters {               \
    body(false) arguments;                                        \
  }                                                               \
  LOOM_TARGET_AVX2 void name##Avx2 parameters {                   \
    body(kInHalves) arguments;                                    \
  }                                                               \
  void name parameters {                                          \
    if (multipliesBf16()) return name##Native arguments;          \
    (isa() == Isa::avx512 ? name##Avx512 : name##Avx2) arguments; \
  }
#define LOOM_INPUTS(native) transformInputs<native>
#define LOOM_GRADIENTS(native) transformGradients<native>
#define LOOM_OUTPUTS(native) transformOutputs<native>
#define LOOM_WEIGHTS(native) weightsOf<native>
#define LOOM_WEIGHT_GRADIENT(native) weightGradientOf<native>
LOOM_WINOGRAD(inputsToPoints, LOOM_INPUTS,
              (const WinogradGeometry& g, Stored x, std::int64_t first, std::int64_t last, float* to,
               const Matrices& matrices),
              (g, x, first, last, to, matrices))
LOOM_WINOGRAD(gradientsToPoints, LOOM_GRADIENTS,
              (const WinogradGeometry& g, Stored dy, std::int64_t first, std::int64_t last, float* to,
               const Matrices& matrices),
              (g, dy, first, last, to, matrices))
LOOM_WINOGRAD(outputsFromPoints, LOOM_OUTPUTS,
              (const WinogradGeometry& g, const float* from, const Matrices& matrices, const float* bias, bool relu,
               Stored y, std::int64_t first, std::int64_t last),
              (g, from, matrices, bias, relu, y, first, last))
LOOM_WINOGRAD(weightsToPoints, LOOM_WEIGHTS,
              (const WinogradGeometry& g, const float* weight, bool turned, float* transformed, std::int64_t first,
               std::int64_t last),
              (g, weight, turned, transformed, first, last))
LOOM_WINOGRAD(weightGradientFromPoints, LOOM_WEIGHT_GRADIENT,
              (const WinogradGeometry& g, const float* sums, int parts, float* dw, bool add, std::int64_t first,
               std::int64_t last),
              (g, sums, parts, dw, add, first, last))

WinogradMatrices matricesOf(const WinogradGeometry& g, std::int64_t tiles, const Matrices& in, const Matrices& out) {
  return {.tiles = tiles,
          .inputs = g.inputs,
          .outputs = g.outputs,
          .groupIn = in.groupStride,
          .partIn = in.partStride,
          .groupOut = out.groupStride,
          .partOut = out.partStride,
          .partWeights = winogradMatrixFloats(g)};
}

}  // namespace

std::int64_t winogradBlock(const WinogradGeometry& g) {
  return blockOf(g, false);
}

std::int64_t winogradScratch(const WinogradGeometry& g) {
  const std::int64_t block = std::max(blockOf(g, false), blockOf(g, true));
  return Matrices(g.inputs, block).floats() + Matrices(g.outputs, block).floats();
}

void winogradWeights(const WinogradGeometry& g, const float* weight, bool turned, float* transformed,
                     std::int64_t firstUnit, std::int64_t lastUnit) {
  weightsToPoints(g, weight, turned, transformed, firstUnit, lastUnit);
}

void winogradConvolution(const WinogradGeometry& g, Stored x, const float* transformed, const float* bias, bool relu,
                         Stored y, std::int64_t first, std::int64_t last, float* scratch) {
  const std::int64_t block = blockOf(g, false);
  const Matrices in(g.inputs, block), out(g.outputs, block);
  float* results = scratch + in.floats();
  for (std::int64_t tile = first; tile < last; tile += block) {
    const std::int64_t count = std::min(block, last - tile);
    inputsToPoints(g, x, tile, tile + count, scratch, in);
    multiplyTiles(matricesOf(g, count, in, out), scratch, transformed, results);
    outputsFromPoints(g, results, out, bias, relu, y, tile, tile + count);
  }
}

void winogradWeightSums(const WinogradGeometry& g, Stored x, Stored dy, std::int64_t first, std::int64_t last,
                        float* sums, float* scratch) {
  const std::int64_t block = blockOf(g, true);
  const Matrices in(g.inputs, block), out(g.outputs, block);
  float* gradients = scratch + in.floats();
  if (first >= last) std::fill_n(sums, winogradWeightFloats(g), 0.0f);
  for (std::int64_t tile = first; tile < last; tile += block) {
    const std::int64_t count = std::min(block, last - tile);
    inputsToPoints(g, x, tile, tile + count, scratch, in);
    gradientsToPoints(g, dy, tile, tile + count, gradients, out);
    multiplyTransposed(matricesOf(g, count, in, out), scratch, gradients, tile > first, sums);
  }
}

void winogradWeightGradient(const WinogradGeometry& g, const float* sums, int parts, float* dw, bool add,
                            std::int64_t firstUnit, std::int64_t lastUnit) {
  weightGradientFromPoints(g, sums, parts, dw, add, firstUnit, lastUnit);
}

}  // namespace loom::cpu
