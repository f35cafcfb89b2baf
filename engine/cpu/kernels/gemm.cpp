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
  if (place.also == nullptr) return;
  const TilePlace also{.c = place.also,
                       .ldc = place.ldc,
                       .columns = place.columns,
                       .bias = nullptr,
                       .add = place.alsoAdd,
                       .last = false,
                       .activation = Activation::none,
                       .scale = place.alsoScale};
  storeTile<V, kRows, kVectors>(sums, also);
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

// A's numbers from `at` on, with what GemmProblem::plus adds to them.
enum class Sum { none, more, less };
template <Sum kSum, class V>
LOOM_INLINE V summed(V a, V b) {
  return kSum == Sum::none ? a : kSum == Sum::more ? a + b : a - b;
}

// Rows [row, row + count) of A into tiles of nearly equal height (so that none is thin), each as [k][rows]. A's rows
// are not contiguous: it is a transposed matrix (rowStride 1), or any other view.
template <Sum kSum>
LOOM_INLINE void packRows(const MatrixView& a, const float* plus, std::int64_t row, std::int64_t count, int tiles,
                          std::int64_t step, std::int64_t steps, float* to) {
  typedef UnalignedOf<Vec8>::type Eight;
  // From a number of A to the one that is added.
  const std::int64_t other = kSum == Sum::none ? 0 : plus - a.data;
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
      if (k + kAhead < begin) {
        prefetchRow(from + kAhead * a.columnStride, count);
        if (kSum != Sum::none) prefetchRow(from + other + kAhead * a.columnStride, count);
      }
      for (int t = 0; t < tiles; ++t) {
        const float* numbers = from + firsts[t];
        *reinterpret_cast<Eight*>(at[t]) = summed<kSum, Vec8>(load8(numbers), load8(numbers + other));
        at[t] += heights[t];
      }
    }
  }
  for (int t = 0; t < tiles; ++t) {
    const std::int64_t first = count * t / tiles, height = count * (t + 1) / tiles - first;
    const float* from = a.data + (row + first) * a.rowStride + step * a.columnStride;
    for (std::int64_t k = begin; k < steps; ++k) {
      for (std::int64_t r = 0; r < height; ++r) {
        const float* number = from + r * a.rowStride + k * a.columnStride;
        to[tileAt(first, steps, t) + k * height + r] = summed<kSum>(*number, number[other]);
      }
    }
  }
}

// Rows of sums, contiguous ones; they begin a cache line further on than a multiple of 4 KiB, as tiles do.
constexpr std::int64_t kSumStride = kStepBlock + kLanes;
template <Sum kSum>
LOOM_INLINE void addRows(const MatrixView& a, const float* plus, std::int64_t row, std::int64_t count,
                         std::int64_t step, std::int64_t steps, float* to) {
  typedef UnalignedOf<Vec8>::type Eight;
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int64_t at = (row + r) * a.rowStride + step;
    const float *one = a.data + at, *other = plus + at;
    float* sum = to + r * kSumStride;
    std::int64_t i = 0;
    for (; i + 8 <= steps; i += 8)
      *reinterpret_cast<Eight*>(sum + i) = summed<kSum, Vec8>(load8(one + i), load8(other + i));
    for (; i < steps; ++i) sum[i] = summed<kSum>(one[i], other[i]);
  }
}

// How tiles of a block of A are read.
struct Rows {
  const float* first;  // of the block's first row
  std::int64_t rowStride;
  bool tiles;  // as packRows() makes them
};
LOOM_INLINE Rows rowsOf(const GemmProblem& p, std::int64_t row, std::int64_t count, int tiles, std::int64_t step,
                        std::int64_t steps, float* scratch) {
  if (p.a.columnStride != 1) {
    if (p.plus == nullptr)
      packRows<Sum::none>(p.a, nullptr, row, count, tiles, step, steps, scratch);
    else if (p.less)
      packRows<Sum::less>(p.a, p.plus, row, count, tiles, step, steps, scratch);
    else
      packRows<Sum::more>(p.a, p.plus, row, count, tiles, step, steps, scratch);
    return {scratch, 1, true};
  }
  if (p.plus == nullptr) return {p.a.data + row * p.a.rowStride + step, p.a.rowStride, false};
  if (p.less)
    addRows<Sum::less>(p.a, p.plus, row, count, step, steps, scratch);
  else
    addRows<Sum::more>(p.a, p.plus, row, count, step, steps, scratch);
  return {scratch, kSumStride, false};
}

template <class T>
LOOM_INLINE void gemmWith(const GemmProblem& p, std::int64_t firstRow, std::int64_t lastRow, std::int64_t firstPanel,
                          std::int64_t lastPanel, float* scratch) {
  constexpr std::int64_t kWidth = T::kVectors * lanesOf<typename T::V>();
  const std::int64_t panelSteps = p.panelSteps != 0 ? p.panelSteps : p.k;
  for (std::int64_t row = firstRow; row < lastRow; row += kRowBlock) {
    const std::int64_t rows = std::min(kRowBlock, lastRow - row);
    const int tiles = static_cast<int>((rows + T::kRows - 1) / T::kRows);
    std::int64_t firsts[kRowBlock + 1];  // of each tile: a division would delay the next one
    for (int t = 0; t <= tiles; ++t) firsts[t] = rows * t / tiles;
    for (std::int64_t step = 0; step < p.k; step += kStepBlock) {
      const std::int64_t steps = std::min(kStepBlock, p.k - step);
      const Rows from = rowsOf(p, row, rows, tiles, step, steps, scratch);
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
          const std::int64_t first = firsts[t];
          const int height = static_cast<int>(firsts[t + 1] - first);
          place.c = p.c + (row + first) * p.ldc + panel * kWidth;
          if (p.also != nullptr) {
            place.also = p.also + (row + first) * p.ldc + panel * kWidth;
            place.alsoScale = p.alsoScale;
            place.alsoAdd = p.alsoAccumulate || step > 0;
          }
          const float* a = from.first + (from.tiles ? tileAt(first, steps, t) : first * from.rowStride);
          const std::int64_t rowStride = from.rowStride, stepStride = from.tiles ? height : 1;
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
  return kRowBlock * kSumStride;
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
