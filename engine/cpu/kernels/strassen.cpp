#include "engine/cpu/kernels/strassen.h"

#include <algorithm>

#include "engine/cpu/kernels/strassen_parts.h"

namespace loom::cpu {
namespace {

// Of each half at a time, for all seven products: the sums of A's block and its part of C, of kColumns at a time, stay
// in the level-2 cache. Twice as many rows of a transposed A that B is larger than: B is read again for each block.
constexpr std::int64_t kMostRows = kRowBlock, kSteps = kStepBlock;
constexpr std::int64_t kColumns = 256;                 // of each half: a block's part of C, which seven products add to
constexpr std::int64_t kRowStride = kSteps + kLanes;   // of sums: no multiple of 4 KiB, as TileRows::at()
constexpr std::int64_t kSum = kMostRows * kRowStride;  // floats from one sum of the block to the next

template <class V>
LOOM_INLINE void storeSumsOfB(const Quarters<V>& b, float* to, std::int64_t each) {
  store(to, b.q11 + b.q22);
  store(to + each, b.q11);
  store(to + 2 * each, b.q12 - b.q22);
  store(to + 3 * each, b.q21 - b.q11);
  store(to + 4 * each, b.q22);
  store(to + 5 * each, b.q11 + b.q12);
  store(to + 6 * each, b.q21 + b.q22);
}
// A square of 16 x 16 of each quarter of a matrix whose columns are contiguous, with contiguous rows.
template <Level kNative>
struct Squares {
  alignas(64) float numbers[4][kLanes * kLanes];
  LOOM_INLINE void transpose(const float* at, std::int64_t stride, std::int64_t down, std::int64_t right) {
    transpose16As<kNative>(at, stride, numbers[0], kLanes);
    transpose16As<kNative>(at + right, stride, numbers[1], kLanes);
    transpose16As<kNative>(at + down, stride, numbers[2], kLanes);
    transpose16As<kNative>(at + down + right, stride, numbers[3], kLanes);
  }
  LOOM_INLINE Quarters<VecFor<kNative>> row(std::int64_t r) const {
    typedef VecFor<kNative> V;
    const std::int64_t at = r * kLanes;
    return {loadOf<V>(numbers[0] + at), loadOf<V>(numbers[1] + at), loadOf<V>(numbers[2] + at),
            loadOf<V>(numbers[3] + at)};
  }
};

template <class V>
LOOM_INLINE Quarters<V> quartersAt(const float* at, std::int64_t down, std::int64_t right) {
  return {loadOf<V>(at), loadOf<V>(at + right), loadOf<V>(at + down), loadOf<V>(at + down + right)};
}

template <Level kNative>
LOOM_INLINE void packHalvedOfBody(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n,
                                  std::int64_t first, std::int64_t last, const HalvedSteps& steps, std::int64_t width) {
  const std::int64_t count = steps.last - steps.first, each = count * n / 2;
  const std::int64_t down = k / 2 * b.rowStride, right = n / 2 * b.columnStride;
  Squares<kNative> squares;
  for (std::int64_t panel = first; panel < last; ++panel) {
    float* const to = packed + panel * count * width;
    const float* const from = b.data + steps.first * b.rowStride + panel * width * b.columnStride;
    if (b.columnStride == 1) {
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t j = 0; j < width; j += kLanes)
          storeSumsOfB(quartersAt<VecFor<kNative>>(from + i * b.rowStride + j, down, right), to + i * width + j, each);
      }
      continue;
    }
    for (std::int64_t i = 0; i < count; i += kLanes) {
      for (std::int64_t j = 0; j < width; j += kLanes) {
        squares.transpose(from + i * b.rowStride + j * b.columnStride, b.columnStride, down, right);
        for (std::int64_t r = 0; r < kLanes; ++r) storeSumsOfB(squares.row(r), to + (i + r) * width + j, each);
      }
    }
  }
}
LOOM_CPU_KERNEL_HALVES(void, packHalvedOf,
                       (float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first,
                        std::int64_t last, const HalvedSteps& steps, std::int64_t width),
                       (packed, b, k, n, first, last, steps, width))

// Of contiguous rows: kRowStride apart. The next row is fetched meanwhile: from the end of half a row the processor
// does not look ahead to it.
template <Level kNative>
LOOM_INLINE void sumRowsOfABody(const BlockOfA& a, float* to) {
  for (std::int64_t r = 0; r < a.rows; ++r) {
    const float* const from = a.first + r * a.stride;
    for (std::int64_t k = 0; k < a.steps; k += 8) {
      if (k % kLanes == 0) {
        for (const std::int64_t quarter : {std::int64_t{0}, a.right, a.down, a.down + a.right})
          __builtin_prefetch(from + a.stride + quarter + k, 0, 2);
      }
      putSumsOfA<false>(eightAt(a, from + k), to + r * kRowStride + k, kSum);
    }
  }
}
LOOM_CPU_KERNEL_HALVES(void, sumRowsOfA, (const BlockOfA& a, float* to), (a, to))

template <Level kNative>
LOOM_INLINE void sumTilesOfABody(const BlockOfA& a, const TileRows& rows, float* to) {
  sumInTiles(a, rows, to, kSum);
}
LOOM_CPU_KERNEL_HALVES(void, sumTilesOfA, (const BlockOfA& a, const TileRows& rows, float* to), (a, rows, to))

std::int64_t blocksOf(std::int64_t count, std::int64_t atMost) {
  return (count + atMost - 1) / atMost;
}

}  // namespace

bool canHalve(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t width) {
  return m % 2 == 0 && m >= 8 && n % (2 * width) == 0 && k % (2 * kLanes) == 0;
}

std::int64_t halvedBlocks(std::int64_t k) {
  return blocksOf(k / 2, kSteps);
}

HalvedSteps halvedBlock(std::int64_t k, std::int64_t block) {
  const std::int64_t units = k / 2 / kLanes, blocks = halvedBlocks(k);
  return {units * block / blocks * kLanes, units * (block + 1) / blocks * kLanes};
}

std::int64_t halvedFloats(const HalvedSteps& steps, std::int64_t n) {
  return 7 * (steps.last - steps.first) * (n / 2);
}

std::int64_t halvedScratch() {
  return 7 * kSum;
}

void packHalved(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first,
                std::int64_t last, const HalvedSteps& steps, std::int64_t width) {
  packHalvedOf(packed, b, k, n, first, last, steps, width);
}

namespace {

// Rows and steps of a half that are multiplied together.
struct Block {
  std::int64_t row, rows, step, steps;
};

// With the sums of A's block, panels [first, last).
void multiplyBlock(const GemmProblem& p, std::int64_t first, std::int64_t last, const HalvedSteps& packed,
                   const Block& block, const float* sums) {
  const std::int64_t half = p.k / 2, panelSteps = packed.last - packed.first, each = panelSteps * p.n / 2;
  const bool tiled = p.a.columnStride != 1, ends = block.step + block.steps == half;
  const auto inC = [&](Quarter q) { return p.c + (q.row * p.m / 2 + block.row) * p.ldc + q.column * p.n / 2; };
  for (const Part& part : kParts) {
    GemmProblem one{.m = block.rows,
                    .n = p.n / 2,
                    .k = block.steps,
                    .a = {sums + part.number * kSum, kRowStride},
                    .tiled = tiled,
                    .packed = p.packed + part.number * each + (block.step - packed.first) * panelWidth(),
                    .panelSteps = panelSteps,
                    .c = inC(part.to),
                    .ldc = p.ldc,
                    .accumulate = p.accumulate || !part.begins || block.step > 0};
    if (part.a && !tiled) {
      one.a = {p.a.data + (part.a->row * p.m / 2 + block.row) * p.a.rowStride + part.a->column * half + block.step,
               p.a.rowStride};
    }
    if (part.ends && ends) {
      one.activation = p.activation;
      if (p.bias != nullptr) one.bias = p.bias + part.to.column * p.n / 2;
    }
    if (part.also) {
      one.also = inC(*part.also);
      one.alsoLess = part.alsoLess;
      one.alsoAccumulate = p.accumulate || !part.alsoBegins || block.step > 0;
    }
    gemm(one, 0, block.rows, first, last, nullptr);
  }
}

}  // namespace

void multiplyHalved(const GemmProblem& p, const GemmShare& share, const HalvedSteps& steps, float* scratch) {
  const bool tiled = p.a.columnStride != 1;
  // Blocks of rows in whole tiles.
  const std::int64_t tile = tileRows(), tiles = blocksOf(share.lastRow - share.firstRow, tile),
                     rowBlocks = blocksOf(tiles * tile, tiled && p.n > p.m ? kMostRows : kHalvedRows),
                     stepBlocks = halvedBlocks(p.k);
  const auto rowAt = [&](std::int64_t block) {
    return std::min(share.lastRow, share.firstRow + tiles * block / rowBlocks * tile);
  };
  const auto multiplyAll = [&](std::int64_t rowBlock, std::int64_t stepBlock) {
    const auto [step, end] = halvedBlock(p.k, stepBlock);
    if (end <= steps.first || step >= steps.last) return;
    const std::int64_t row = rowAt(rowBlock);
    const Block block{row, rowAt(rowBlock + 1) - row, step, end - step};
    const BlockOfA a{p.a.data + row * p.a.rowStride + step * p.a.columnStride,
                     p.m / 2 * p.a.rowStride,
                     p.k / 2 * p.a.columnStride,
                     tiled ? p.a.columnStride : p.a.rowStride,
                     block.rows,
                     block.steps};
    if (tiled)
      sumTilesOfA(a, TileRows(block.rows, tile), scratch);
    else
      sumRowsOfA(a, scratch);
    const std::int64_t together = kColumns / panelWidth();
    for (std::int64_t panel = share.firstPanel; panel < share.lastPanel; panel += together)
      multiplyBlock(p, panel, std::min(share.lastPanel, panel + together), steps, block, scratch);
  };
  // A block of A is read once for all its columns. Of a transposed A (long in K: a gradient of weights) all rows use
  // some steps of B before the next ones are read: B is as large as a cache there.
  for (std::int64_t outer = 0; outer < (tiled ? stepBlocks : rowBlocks); ++outer) {
    for (std::int64_t inner = 0; inner < (tiled ? rowBlocks : stepBlocks); ++inner)
      tiled ? multiplyAll(inner, outer) : multiplyAll(outer, inner);
  }
}

}  // namespace loom::cpu
