#include "engine/cpu/kernels/gemm.h"

#include <algorithm>

#include "engine/cpu/kernels/gemm_tile.h"
#include "engine/cpu/stage.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kStepBlock =
    512;  // of K: one panel block (128 KiB) and the block of A stay in the level-2 cache
constexpr std::int64_t kRowBlock = 96;

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
  storeTile<V, kRows, kVectors>(sums, place);
}

}  // namespace

LOOM_TILE(TileAvx512, LOOM_TARGET_AVX512, float)
LOOM_TILE(TileAvx2, LOOM_TARGET_AVX2, float)
LOOM_TILE(TileBaseline, , float)

namespace {

// Where a tile's rows are packed. Tiles begin a cache line further on than their rows would have it: whole steps of
// them are written side by side, and at multiples of 4 KiB they would all want the same eight places of the level-1
// cache.
LOOM_INLINE std::int64_t tileAt(std::int64_t first, std::int64_t steps, int tile) {
  return first * steps + tile * kLanes;
}

// Rows [row, row + count) of A into tiles of nearly equal height (so that none is thin), each as [k][rows]. A's rows
// are not contiguous: it is a transposed matrix (rowStride 1), or any other view.
LOOM_INLINE void packRows(const MatrixView& a, std::int64_t row, std::int64_t count, int tiles, std::int64_t step,
                          std::int64_t steps, float* to) {
  typedef UnalignedOf<Vec8>::type Eight;
  std::int64_t begin = 0;
  if (a.rowStride == 1 && a.columnStride >= 8 && count / tiles >= 4) {
    // Eight numbers are moved for each tile and step, of which the tile takes four to six. What is read too much lies
    // before the end of the next step's row; what is written too much is overwritten by the next step. So the last step
    // is not done this way. Tiles begin where they do for every step: no division stands in the loop.
    begin = steps - 1;
    std::int64_t firsts[kRowBlock];
    std::int64_t heights[kRowBlock];
    float* at[kRowBlock];
    for (int t = 0; t < tiles; ++t) {
      firsts[t] = count * t / tiles;
      heights[t] = count * (t + 1) / tiles - firsts[t];
      at[t] = to + tileAt(firsts[t], steps, t);
    }
    for (std::int64_t k = 0; k < begin; ++k) {
      const float* from = a.data + row + (step + k) * a.columnStride;
      if (k + kAhead < begin) prefetchRow(from + kAhead * a.columnStride, count);
      for (int t = 0; t < tiles; ++t) {
        *reinterpret_cast<Eight*>(at[t]) = *reinterpret_cast<const Eight*>(from + firsts[t]);
        at[t] += heights[t];
      }
    }
  }
  for (int t = 0; t < tiles; ++t) {
    const std::int64_t first = count * t / tiles, height = count * (t + 1) / tiles - first;
    const float* from = a.data + (row + first) * a.rowStride + step * a.columnStride;
    for (std::int64_t k = begin; k < steps; ++k) {
      for (std::int64_t r = 0; r < height; ++r)
        to[tileAt(first, steps, t) + k * height + r] = from[r * a.rowStride + k * a.columnStride];
    }
  }
}

template <class T>
LOOM_INLINE void gemmWith(const GemmProblem& p, std::int64_t firstRow, std::int64_t lastRow, std::int64_t firstPanel,
                          std::int64_t lastPanel, float* scratch) {
  constexpr std::int64_t kWidth = T::kVectors * lanesOf<typename T::V>();
  const bool packs = p.a.columnStride != 1;
  const std::int64_t panelSteps = p.panelSteps != 0 ? p.panelSteps : p.k;
  for (std::int64_t row = firstRow; row < lastRow; row += kRowBlock) {
    const std::int64_t rows = std::min(kRowBlock, lastRow - row);
    const int tiles = static_cast<int>((rows + T::kRows - 1) / T::kRows);
    for (std::int64_t step = 0; step < p.k; step += kStepBlock) {
      const std::int64_t steps = std::min(kStepBlock, p.k - step);
      if (packs) packRows(p.a, row, rows, tiles, step, steps, scratch);
      for (std::int64_t panel = firstPanel; panel < lastPanel; ++panel) {
        const float* b = p.packed + (panel * panelSteps + step) * kWidth;
        TilePlace place;
        place.ldc = p.ldc;
        place.columns = std::min(kWidth, p.n - panel * kWidth);
        place.bias = p.bias == nullptr ? nullptr : p.bias + panel * kWidth;
        place.add = p.accumulate || step > 0;
        place.last = step + steps == p.k;
        place.activation = p.activation;
        place.scale = p.scale;
        for (int t = 0; t < tiles; ++t) {
          const std::int64_t first = rows * t / tiles;
          const int height = static_cast<int>(rows * (t + 1) / tiles - first);
          place.c = p.c + (row + first) * p.ldc + panel * kWidth;
          const float* a = packs ? scratch + tileAt(first, steps, t) : p.a.data + (row + first) * p.a.rowStride + step;
          const std::int64_t rowStride = packs ? 1 : p.a.rowStride, stepStride = packs ? height : 1;
          if (place.columns <= kWidth / T::kVectors) {
            computeRows<T, 1>(height, a, rowStride, stepStride, b, kWidth, steps, place);
          } else {
            computeRows<T, T::kVectors>(height, a, rowStride, stepStride, b, kWidth, steps, place);
          }
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
  return isa() == Isa::avx512 ? 64 : 16;
}

std::int64_t gemmScratch() {
  return kRowBlock * kStepBlock + kRowBlock * kLanes;
}

void packPanels(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first,
                std::int64_t last) {
  packPanelsOf(packed, b, k, n, first, last, panelWidth());
}

void gemm(const GemmProblem& problem, std::int64_t firstRow, std::int64_t lastRow, std::int64_t firstPanel,
          std::int64_t lastPanel, float* scratch) {
  switch (isa()) {
    case Isa::avx512:
      return gemmAvx512(problem, firstRow, lastRow, firstPanel, lastPanel, scratch);
    case Isa::avx2:
      return gemmAvx2(problem, firstRow, lastRow, firstPanel, lastPanel, scratch);
    case Isa::baseline:
      return gemmBaseline(problem, firstRow, lastRow, firstPanel, lastPanel, scratch);
  }
}

GemmShare shareOf(const Worker& worker, std::int64_t m, std::int64_t n, std::int64_t tileRows) {
  const std::int64_t panels = panelsOf(n), tiles = (m + tileRows - 1) / tileRows;
  std::int64_t bestColumns = 1, bestCost = INT64_MAX;
  for (std::int64_t columns = worker.count; columns >= 1; --columns) {
    if (worker.count % columns != 0) continue;
    const std::int64_t rows = worker.count / columns;
    const std::int64_t cost = ((panels + columns - 1) / columns) * ((tiles + rows - 1) / rows);
    if (cost < bestCost) {
      bestCost = cost;
      bestColumns = columns;
    }
  }
  const std::int64_t rows = worker.count / bestColumns, row = worker.index / bestColumns,
                     column = worker.index % bestColumns;
  return {std::min(m, tiles * row / rows * tileRows), std::min(m, tiles * (row + 1) / rows * tileRows),
          panels * column / bestColumns, panels * (column + 1) / bestColumns};
}

}  // namespace loom::cpu
