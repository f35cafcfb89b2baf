#include "engine/cpu/kernels/gemm.h"

#include <algorithm>

#include "engine/cpu/kernels/gemm_rows.h"
#include "engine/cpu/kernels/gemm_tile.h"
#include "engine/cpu/stage.h"

namespace loom::cpu {
namespace {

template <class T, int kRows, int kVectors>
LOOM_INLINE void computeTile(const float* a, std::int64_t rowStride, std::int64_t stepStride, const float* b,
                             std::int64_t panel, std::int64_t steps, const TilePlace& place) {
  typedef typename T::V V;
  V sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[r][v] = V{};
  }
  prefetchTile<kRows, kVectors * lanesOf<typename T::V>()>(place);
  multiplyTile<V, kRows, kVectors>(sums, a, rowStride, stepStride, b, panel, steps);
  if (place.also != nullptr) storeAlso<V, kRows, kVectors>(sums, place);
  storeTile<V, kRows, kVectors>(sums, place);
}

}  // namespace

LOOM_TILE(TileAvx512, LOOM_TARGET_AVX512, float)
LOOM_TILE(TileAvx2, LOOM_TARGET_AVX2, float)
LOOM_TILE(TileBaseline, , float)

namespace {

// Whole tiles whose sums go to C as they are: most of a product's. What happens to the sums is known when the function
// is chosen, not asked at each tile: of 192 steps, one tile began 67 to 93 cycles after the last one's sums, and begins
// 55 to 78 after them now (Zen 3, everything in the cache).
typedef void (*WholeTile)(const float* a, std::int64_t rowStride, std::int64_t stepStride, const float* b,
                          std::int64_t steps, float* c, float* also, std::int64_t ldc);
enum class Also { none, over, add, subtract };

template <class T, int kRows, bool kAdd, Also kAlso>
LOOM_INLINE void computeWhole(const float* a, std::int64_t rowStride, std::int64_t stepStride, const float* b,
                              std::int64_t steps, float* c, float* also, std::int64_t ldc) {
  typedef typename T::V V;
  constexpr int kWidth = T::kVectors * lanesOf<V>();
  V sums[kRows][T::kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < T::kVectors; ++v) sums[r][v] = V{};
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int at = 0; at < kWidth; at += 16) {
      __builtin_prefetch(c + r * ldc + at, 1);
      if (kAlso != Also::none) __builtin_prefetch(also + r * ldc + at, 1);
    }
  }
  multiplyTile<V, kRows, T::kVectors>(sums, a, rowStride, stepStride, b, kWidth, steps);
  if (kAlso == Also::over) putSums<Put::over>(sums, also, ldc);
  if (kAlso == Also::add) putSums<Put::add>(sums, also, ldc);
  if (kAlso == Also::subtract) putSums<Put::subtract>(sums, also, ldc);
  putSums<kAdd ? Put::add : Put::over>(sums, c, ldc);
}

#define LOOM_WHOLE_TILE(T, target)                                                                                    \
  template <int kRows, bool kAdd, Also kAlso>                                                                         \
  struct Whole<T, kRows, kAdd, kAlso> {                                                                               \
    static target __attribute__((noinline)) void compute(const float* a, std::int64_t rowStride,                      \
                                                         std::int64_t stepStride, const float* b, std::int64_t steps, \
                                                         float* c, float* also, std::int64_t ldc) {                   \
      computeWhole<T, kRows, kAdd, kAlso>(a, rowStride, stepStride, b, steps, c, also, ldc);                          \
    }                                                                                                                 \
  };
template <class T, int kRows, bool kAdd, Also kAlso>
struct Whole;
LOOM_WHOLE_TILE(TileAvx512, LOOM_TARGET_AVX512)
LOOM_WHOLE_TILE(TileAvx2, LOOM_TARGET_AVX2)
LOOM_WHOLE_TILE(TileBaseline, )
#undef LOOM_WHOLE_TILE

template <class T, int kRows, bool kAdd>
WholeTile wholeTile(Also also) {
  switch (also) {
    case Also::none:
      return Whole<T, kRows, kAdd, Also::none>::compute;
    case Also::over:
      return Whole<T, kRows, kAdd, Also::over>::compute;
    case Also::add:
      return Whole<T, kRows, kAdd, Also::add>::compute;
    case Also::subtract:
      return Whole<T, kRows, kAdd, Also::subtract>::compute;
  }
  return nullptr;
}
// For tiles of the full height or one less: TileRows makes few others. The rest are null.
template <class T>
struct WholeTiles {
  WholeTile full, lower;
  WholeTiles(bool add, Also also)
      : full(add ? wholeTile<T, T::kRows, true>(also) : wholeTile<T, T::kRows, false>(also)),
        lower(add ? wholeTile<T, T::kRows - 1, true>(also) : wholeTile<T, T::kRows - 1, false>(also)) {}
  LOOM_INLINE WholeTile of(std::int64_t height) const {
    return height == T::kRows ? full : height == T::kRows - 1 ? lower : nullptr;
  }
};

// Rows [row, row + count) of A into tiles (gemm_rows.h). A's rows are not contiguous: it is a transposed matrix
// (rowStride 1), or any other view.
LOOM_INLINE void packRows(const MatrixView& a, std::int64_t row, const TileRows& rows, std::int64_t step,
                          std::int64_t steps, float* to) {
  std::int64_t begin = 0;
  if (a.rowStride == 1) {
    Steps here;
    for (; begin + kStepsAtOnce <= steps; begin += kStepsAtOnce) {
      here.read(a.data + row + (step + begin) * a.columnStride, a.columnStride, rows.count,
                begin + kAhead < steps ? kAhead * a.columnStride : 0);
      for (int t = 0; t < rows.tiles; ++t) {
        // Of a tile of fewer than six rows, eight numbers are moved: what is written too much is overwritten by the
        // next step or lies between tiles.
        const std::int64_t height = rows.height(t);
        const float* const from = here.numbers + rows.firsts[t];
        float* const at = to + rows.at(t, steps) + begin * height;
        if (height == kSixRows) {
          store8(at, partOfSixRows<0>(from, Steps::kStride));
          store8(at + 8, partOfSixRows<1>(from, Steps::kStride));
          store8(at + 16, partOfSixRows<2>(from, Steps::kStride));
        } else {
          for (std::int64_t k = 0; k < kStepsAtOnce; ++k) store8(at + k * height, load8(from + k * Steps::kStride));
        }
      }
    }
  }
  for (int t = 0; t < rows.tiles; ++t) {
    const std::int64_t height = rows.height(t);
    const float* from = a.data + (row + rows.firsts[t]) * a.rowStride + step * a.columnStride;
    float* tile = to + rows.at(t, steps);
    for (std::int64_t k = begin; k < steps; ++k)
      for (std::int64_t r = 0; r < height; ++r) tile[k * height + r] = from[r * a.rowStride + k * a.columnStride];
  }
}

template <class T>
LOOM_INLINE void gemmWith(const GemmProblem& p, std::int64_t firstRow, std::int64_t lastRow, std::int64_t firstPanel,
                          std::int64_t lastPanel, float* scratch) {
  constexpr std::int64_t kWidth = T::kVectors * lanesOf<typename T::V>();
  const std::int64_t panelSteps = p.panelSteps != 0 ? p.panelSteps : p.k;
  const bool tiled = p.tiled || p.a.columnStride != 1;
  for (std::int64_t row = firstRow; row < lastRow; row += kRowBlock) {
    const TileRows rows(std::min(kRowBlock, lastRow - row), T::kRows);
    for (std::int64_t step = 0; step < p.k; step += kStepBlock) {
      const std::int64_t steps = std::min(kStepBlock, p.k - step);
      if (tiled && !p.tiled) packRows(p.a, row, rows, step, steps, scratch);
      const float* const block = p.tiled ? p.a.data : tiled ? scratch : p.a.data + row * p.a.rowStride + step;
      const bool alsoAdds = p.alsoAccumulate || step > 0, last = step + steps == p.k;
      const Also also = p.also == nullptr ? Also::none
                        : !alsoAdds       ? Also::over
                        : p.alsoLess      ? Also::subtract
                                          : Also::add;
      const WholeTiles<T> whole(p.accumulate || step > 0, also);
      const bool plain = p.scale == 1 && (!last || (p.bias == nullptr && p.activation == Activation::none));
      for (std::int64_t panel = firstPanel; panel < lastPanel; ++panel) {
        const float* const b = p.packed + (panel * panelSteps + step) * kWidth;
        const std::int64_t columns = std::min(kWidth, p.n - panel * kWidth), at = row * p.ldc + panel * kWidth;
        const bool isWhole = plain && columns == kWidth;
        for (int t = 0; t < rows.tiles; ++t) {
          if (p.ahead != nullptr) p.ahead->fetchParts();
          const std::int64_t first = rows.firsts[t], height = rows.height(t);
          const float* const a = block + (tiled ? rows.at(t, steps) : first * p.a.rowStride);
          const std::int64_t rowStride = tiled ? 1 : p.a.rowStride, stepStride = tiled ? height : 1;
          float* const c = p.c + at + first * p.ldc;
          float* const other = p.also == nullptr ? nullptr : p.also + at + first * p.ldc;
          if (const WholeTile compute = whole.of(height); isWhole && compute != nullptr) {
            compute(a, rowStride, stepStride, b, steps, c, other, p.ldc);
            continue;
          }
          const TilePlace place{.c = c,
                                .ldc = p.ldc,
                                .columns = columns,
                                .bias = p.bias == nullptr ? nullptr : p.bias + panel * kWidth,
                                .add = p.accumulate || step > 0,
                                .last = last,
                                .activation = p.activation,
                                .scale = p.scale,
                                .also = other,
                                .alsoLess = p.alsoLess,
                                .alsoAdd = alsoAdds};
          if (columns <= kWidth / T::kVectors)
            computeRows<T, 1>(static_cast<int>(height), a, rowStride, stepStride, b, kWidth, steps, place);
          else
            computeRows<T, T::kVectors>(static_cast<int>(height), a, rowStride, stepStride, b, kWidth, steps, place);
        }
      }
    }
  }
}

LOOM_TARGET_AVX512 void gemmAvx512(const GemmProblem& p, std::int64_t r0, std::int64_t r1, std::int64_t p0,
                                   std::int64_t p1, float* s) {
  gemmWith<TileAvx512>(p, r0, r1, p0, p1, s);
}
LOOM_TARGET_AVX2 void gemmAvx2(const GemmProblem& p, std::int64_t r0, std::int64_t r1, std::int64_t p0, std::int64_t p1,
                               float* s) {
  gemmWith<TileAvx2>(p, r0, r1, p0, p1, s);
}
void gemmBaseline(const GemmProblem& p, std::int64_t r0, std::int64_t r1, std::int64_t p0, std::int64_t p1, float* s) {
  gemmWith<TileBaseline>(p, r0, r1, p0, p1, s);
}

// Columns that are packed together where rows of B are contiguous: their parts of a row are read after one another.
// With AVX2, of whole rows where those are short: memory is read in its order. Of wide ones, that many panels would be
// written at once.
template <Level kNative>
LOOM_INLINE std::int64_t columnsTogether(std::int64_t n) {
  if (!kNative.inHalves()) return 64;
  return n <= 384 ? 384 : 192;
}
template <Level kNative>
LOOM_INLINE void packPanelsOfBody(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n,
                                  std::int64_t first, std::int64_t last, std::int64_t widthHere) {
  // With AVX2 the compiler knows the width: a panel's row is two stores, not a loop.
  const std::int64_t width = kNative.inHalves() ? 16 : widthHere;
  const std::int64_t whole = b.columnStride == 1 ? std::min(last, n / width) : first;
  const std::int64_t together = std::max<std::int64_t>(columnsTogether<kNative>(n) / width, 1);
  std::int64_t panel = first;
  while (panel < whole) {
    const std::int64_t count = std::min(together, whole - panel);
    for (std::int64_t i = 0; i < k; ++i) {
      const float* from = b.data + panel * width + i * b.rowStride;
      for (std::int64_t p = 0; p < count; ++p) {
        float* to = packed + ((panel + p) * k + i) * width;
        for (std::int64_t j = 0; j < width; j += 16) store(to + j, loadOf<VecFor<kNative>>(from + p * width + j));
      }
    }
    panel += count;
  }
  // What is left is gathered in squares of 16.
  for (; panel < last; ++panel) {
    float* to = packed + panel * k * width;
    const std::int64_t columns = std::min(width, n - panel * width);
    const float* from = b.data + panel * width * b.columnStride;
    for (std::int64_t i0 = 0; i0 < k; i0 += kLanes) {
      const std::int64_t i1 = std::min(k, i0 + kLanes);
      for (std::int64_t j0 = 0; j0 < columns; j0 += kLanes) {
        const std::int64_t j1 = std::min(columns, j0 + kLanes);
        if (b.rowStride == 1 && i1 - i0 == kLanes && j1 - j0 == kLanes) {
          transpose16As<kNative>(from + i0 + j0 * b.columnStride, b.columnStride, to + i0 * width + j0, width);
          continue;
        }
        for (std::int64_t j = j0; j < j1; ++j) {
          for (std::int64_t i = i0; i < i1; ++i) to[i * width + j] = from[i * b.rowStride + j * b.columnStride];
        }
      }
    }
    if (columns < width) {
      for (std::int64_t i = 0; i < k; ++i) std::fill(to + i * width + columns, to + (i + 1) * width, 0.0f);
    }
  }
}
LOOM_CPU_KERNEL_HALVES(void, packPanelsOf,
                       (float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first,
                        std::int64_t last, std::int64_t width),
                       (packed, b, k, n, first, last, width))

}  // namespace

std::int64_t panelWidth() {
  return isa() == Isa::avx512 ? 64 : kNarrowPanel;
}

std::int64_t tileRows() {
  return isa() == Isa::baseline ? TileBaseline::kRows : TileAvx2::kRows;
}

std::int64_t gemmScratch() {
  return kRowBlock * (kStepBlock + kLanes);
}

void packPanels(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first,
                std::int64_t last) {
  packPanelsOf(packed, b, k, n, first, last, panelWidth());
}
void packNarrowPanels(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n) {
  packPanelsOf(packed, b, k, n, 0, panelsOf(n, kNarrowPanel), kNarrowPanel);
}

void gemm(const GemmProblem& problem, std::int64_t firstRow, std::int64_t lastRow, std::int64_t firstPanel,
          std::int64_t lastPanel, float* scratch) {
  switch (problem.narrow ? std::min(isa(), Isa::avx2) : isa()) {
    case Isa::avx512:
      return gemmAvx512(problem, firstRow, lastRow, firstPanel, lastPanel, scratch);
    case Isa::avx2:
      return gemmAvx2(problem, firstRow, lastRow, firstPanel, lastPanel, scratch);
    case Isa::baseline:
      return gemmBaseline(problem, firstRow, lastRow, firstPanel, lastPanel, scratch);
  }
}

GemmShare shareOf(const Worker& worker, std::int64_t m, std::int64_t n, std::int64_t tileRows, bool byRows) {
  const std::int64_t panels = panelsOf(n), tiles = (m + tileRows - 1) / tileRows;
  // Vectors of a panel: the last one has one where that is enough for its columns.
  constexpr std::int64_t kVectors = 4;
  const std::int64_t last = n % panelWidth(), missing = last > 0 && last <= panelWidth() / kVectors ? kVectors - 1 : 0;
  std::int64_t bestColumns = 1, bestCost = INT64_MAX;
  const std::int64_t parts = worker.count / worker.pieces, part = worker.index / worker.pieces;
  for (std::int64_t columns = parts; columns >= 1; --columns) {
    if (parts % columns != 0) continue;
    const std::int64_t rows = parts / columns, most = (panels + columns - 1) / columns;
    // Where all shares have as many panels, some other one than that of the last panel is the widest.
    const std::int64_t vectors = most * kVectors - (columns == 1 ? missing : 0);
    const std::int64_t cost = vectors * ((tiles + rows - 1) / rows);
    if (cost < bestCost || (byRows && cost == bestCost)) {
      bestCost = cost;
      bestColumns = columns;
    }
  }
  const std::int64_t rows = parts / bestColumns * worker.pieces,
                     row = part / bestColumns * worker.pieces + worker.index % worker.pieces,
                     column = part % bestColumns;
  return {std::min(m, tiles * row / rows * tileRows), std::min(m, tiles * (row + 1) / rows * tileRows),
          panels * column / bestColumns, panels * (column + 1) / bestColumns};
}

}  // namespace loom::cpu
