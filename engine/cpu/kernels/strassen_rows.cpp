#include "engine/cpu/kernels/strassen_rows.h"

#include <algorithm>

#include "engine/cpu/kernels/strassen_parts.h"

namespace loom::cpu {
namespace {

static_assert(kMostSteps == kStepBlock);  // a tiled A is one block of gemm()

std::int64_t blockFloats(std::int64_t rows, std::int64_t steps) {
  return rows * steps + (rows + tileRows() - 1) / tileRows() * kLanes;  // as TileRows::at()
}
// One after another, of at most kRowBlock rows: from the floats of all blocks before to the next ones.
template <class F>
void eachBlock(const HalvedRows& rows, std::int64_t steps, F f) {
  std::int64_t at = 0;
  for (std::int64_t row = rows.first; row < rows.last; row += kRowBlock) {
    const std::int64_t count = std::min(kRowBlock, rows.last - row);
    f(row, count, at);
    at += blockFloats(count, steps);
  }
}

// Sixteen steps of up to kRowBlock contiguous rows, as columns; eight numbers are read of the last tile.
template <Level kNative>
struct Strip {
  static constexpr std::int64_t kStride = Steps::kStride;
  alignas(64) float numbers[4][kLanes * kStride];

  LOOM_INLINE void read(const BlockOfA& a, std::int64_t step) {
    const std::int64_t quarters[] = {0, a.right, a.down, a.down + a.right};
    for (int q = 0; q < 4; ++q) {
      const float* from = a.first + quarters[q] + step;
      std::int64_t row = 0;
      for (; row + kLanes <= a.rows; row += kLanes)
        transpose16As<kNative>(from + row * a.stride, a.stride, numbers[q] + row, kStride);
      for (; row < a.rows; ++row)
        for (std::int64_t k = 0; k < kLanes; ++k) numbers[q][k * kStride + row] = from[row * a.stride + k];
    }
  }
  LOOM_INLINE BlockOfA columns(std::int64_t first, std::int64_t rows) const {
    return {
        numbers[0] + first * kStride, numbers[2] - numbers[0], numbers[1] - numbers[0], kStride, rows, kStepsAtOnce};
  }
};

template <Level kNative>
LOOM_INLINE void packBlockOfBody(const BlockOfA& a, bool rowsAreContiguous, const TileRows& rows, float* to,
                                 std::int64_t each) {
  if (!rowsAreContiguous) return sumInTiles(a, rows, to, each);
  Strip<kNative> strip;
  for (std::int64_t step = 0; step < a.steps; step += kLanes) {
    strip.read(a, step);
    for (std::int64_t k = 0; k < kLanes; k += kStepsAtOnce)
      sumStepsInTiles(strip.columns(k, a.rows), rows, to, each, step + k, a.steps);
  }
}
LOOM_CPU_KERNEL_HALVES(void, packBlockOf,
                       (const BlockOfA& a, bool rowsAreContiguous, const TileRows& rows, float* to, std::int64_t each),
                       (a, rowsAreContiguous, rows, to, each))

}  // namespace

std::int64_t halvedRowsFloats(const HalvedRows& rows, const HalvedSteps& steps) {
  std::int64_t floats = 0;
  eachBlock(rows, steps.last - steps.first, [&](std::int64_t, std::int64_t count, std::int64_t at) {
    floats = at + blockFloats(count, steps.last - steps.first);
  });
  return 7 * floats;
}

std::int64_t halvedTiles(const HalvedRows& rows, std::int64_t n) {
  std::int64_t tiles = 0;
  eachBlock(rows, 0,
            [&](std::int64_t, std::int64_t count, std::int64_t) { tiles += (count + tileRows() - 1) / tileRows(); });
  return std::ssize(kParts) * tiles * (n / 2 / kNarrowPanel);
}

void packHalvedRows(float* packed, const MatrixView& a, std::int64_t m, std::int64_t k, const HalvedRows& rows,
                    const HalvedSteps& steps) {
  const std::int64_t count = steps.last - steps.first, each = halvedRowsFloats(rows, steps) / 7;
  const bool rowsAreContiguous = a.columnStride == 1;
  eachBlock(rows, count, [&](std::int64_t row, std::int64_t height, std::int64_t at) {
    packBlockOf({a.data + row * a.rowStride + steps.first * a.columnStride, m / 2 * a.rowStride, k / 2 * a.columnStride,
                 rowsAreContiguous ? a.rowStride : a.columnStride, height, count},
                rowsAreContiguous, TileRows(height, tileRows()), packed + at, each);
  });
}

void packHalvedColumns(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, const HalvedSteps& steps) {
  packHalved(packed, b, k, n, 0, n / 2 / kNarrowPanel, steps, kNarrowPanel);
}

void multiplyHalvedRows(const GemmProblem& p, const HalvedRows& rows, const HalvedSteps& steps) {
  const std::int64_t count = steps.last - steps.first, eachOfA = halvedRowsFloats(rows, steps) / 7,
                     eachOfB = count * p.n / 2;
  for (const Part& part : kParts) {
    eachBlock(rows, count, [&](std::int64_t row, std::int64_t height, std::int64_t at) {
      const auto inC = [&](Quarter q) { return p.c + (q.row * p.m / 2 + row) * p.ldc + q.column * p.n / 2; };
      GemmProblem one{.m = height,
                      .n = p.n / 2,
                      .k = count,
                      .a = {p.a.data + part.number * eachOfA + at},
                      .tiled = true,
                      .packed = p.packed + part.number * eachOfB,
                      .narrow = true,
                      .c = inC(part.to),
                      .ldc = p.ldc,
                      .accumulate = p.accumulate || !part.begins,
                      .ahead = p.ahead};
      if (part.also) {
        one.also = inC(*part.also);
        one.alsoLess = part.alsoLess;
        one.alsoAccumulate = p.accumulate || !part.alsoBegins;
      }
      gemm(one, 0, height, 0, p.n / 2 / kNarrowPanel, nullptr);
    });
  }
}

}  // namespace loom::cpu
