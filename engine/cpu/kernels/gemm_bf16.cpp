#include "engine/cpu/kernels/gemm_bf16.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "engine/cpu/kernels/bf16.h"
#include "engine/cpu/kernels/gemm_amx.h"
#include "engine/cpu/kernels/gemm_pairs.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kPairs = 512;    // of K at a time: a panel block and the block of A stay in the level-2 cache
constexpr std::int64_t kRowBlock = 96;  // kRowBlock x kPairs words are what gemmScratch() gives

// Without vdpbf16ps: two rows are enough for a path that nobody takes for its speed, and compile in a fraction of the
// time.
template <class T>
struct Portable {
  typedef typename T::V V;
  static constexpr int kRows = 2, kVectors = T::kVectors;
};

// storeTileHalf() of whole vectors.
template <int kRows, int kVectors>
LOOM_INLINE void storeTileNative(Vec (&sums)[kRows][kVectors], const TilePlace& place) {
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      Vec value = sums[r][v] * place.scale;
      if (place.bias != nullptr) value += load(place.bias + v * kLanes);
      if (place.activation == Activation::relu) value = rectified(value);
      VecHalf half;
      asm("vcvtneps2bf16 %1, %0" : "=v"(half) : "v"(value));
      *reinterpret_cast<VecHalfUnaligned*>(place.half + r * place.ldc + v * kLanes) = half;
    }
  }
}

template <class T, int kRows, int kVectors>
LOOM_INLINE void computeTile(const Word* a, std::int64_t rowStride, std::int64_t pairStride, const Word* b,
                             std::int64_t panel, std::int64_t pairs, const TilePlace& place) {
  typename T::V sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sums[r][v] = typename T::V{};
  }
  prefetchTile<kRows, kVectors * lanesOf<typename T::V>()>(place);
  multiplyPairs<T, kRows, kVectors>(sums, a, rowStride, pairStride, b, panel, pairs);
  if (place.half == nullptr) return storeTile<typename T::V, kRows, kVectors>(sums, place);
  if constexpr (std::is_same_v<T, TileNative>) {
    if (place.columns == kVectors * kLanes) return storeTileNative<kRows, kVectors>(sums, place);
  }
  storeTileHalf<typename T::V, kRows, kVectors>(sums, place);
}

}  // namespace

LOOM_TILE(TileNative, LOOM_TARGET_AVX512_BF16, Word)
LOOM_TILE(Portable<TileAvx512>, LOOM_TARGET_AVX512, Word)
LOOM_TILE(Portable<TileAvx2>, LOOM_TARGET_AVX2, Word)
LOOM_TILE(Portable<TileBaseline>, , Word)

namespace {

LOOM_INLINE Word pairOf(float first, float second) {
  return bf16Bits(first) >> 16 | bf16Bits(second);
}
LOOM_INLINE Word pairOf(std::uint16_t first, std::uint16_t second) {
  return first | Word{second} << 16;
}

// Words of neighbours: numbers 0 and 1, 2 and 3, ...
template <bool kNative, class Number>
LOOM_INLINE void pairsOf(const Number* numbers, Word* words, std::int64_t pairs) {
  if constexpr (std::is_same_v<Number, std::uint16_t>) {
    std::memcpy(words, numbers, static_cast<std::size_t>(pairs) * sizeof(Word));
  } else {
    std::int64_t p = 0;
    if constexpr (kNative)
      for (; p + kLanes <= pairs; p += kLanes) {
        Vec word;
        asm("vcvtne2ps2bf16 %2, %1, %0" : "=v"(word) : "v"(load(numbers + 2 * p + kLanes)), "v"(load(numbers + 2 * p)));
        store(reinterpret_cast<float*>(words + p), word);
      }
    for (; p < pairs; ++p) words[p] = pairOf(numbers[2 * p], numbers[2 * p + 1]);
  }
}

// Words of the numbers below each other in two rows.
template <bool kNative, class Number>
LOOM_INLINE void wordsOf(const Number* upper, const Number* lower, Word* words, std::int64_t count) {
  std::int64_t i = 0;
  if constexpr (kNative && std::is_same_v<Number, float>) {
    typedef std::uint16_t Halves __attribute__((vector_size(64)));
    for (; i + kLanes <= count; i += kLanes) {
      Halves both;
      asm("vcvtne2ps2bf16 %2, %1, %0" : "=v"(both) : "v"(load(lower + i)), "v"(load(upper + i)));
      const Halves turned =
          __builtin_shuffle(both, Halves{0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                         8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31});
      store(reinterpret_cast<float*>(words + i), (Vec)turned);
    }
  }
  for (; i < count; ++i) words[i] = pairOf(upper[i], lower[i]);
}

// Rows [row, row + count) and steps [step, step + steps) of A as words: [pair][row] where A's columns are contiguous
// (it is transposed), else [row][pair]. Answers whether it is the former.
template <bool kNative, class Number>
LOOM_INLINE bool packRows(const Number* data, const MatrixView& a, std::int64_t row, std::int64_t count,
                          std::int64_t step, std::int64_t steps, Word* to) {
  const Number* from = data + row * a.rowStride + step * a.columnStride;
  const std::int64_t whole = steps / 2, pairs = (steps + 1) / 2;
  if (a.rowStride == 1) {
    for (std::int64_t p = 0; p < whole; ++p) {
      const Number* first = from + 2 * p * a.columnStride;
      if (p + kAhead / 2 < whole) {
        prefetchRow(first + kAhead * a.columnStride, count);
        prefetchRow(first + (kAhead + 1) * a.columnStride, count);
      }
      wordsOf<kNative>(first, first + a.columnStride, to + p * count, count);
    }
    if (whole < pairs)
      for (std::int64_t r = 0; r < count; ++r)
        to[whole * count + r] = pairOf(from[2 * whole * a.columnStride + r], Number{0});
    return true;
  }
  for (std::int64_t r = 0; r < count; ++r) {
    const Number* numbers = from + r * a.rowStride;
    Word* words = to + r * pairs;
    if (a.columnStride == 1) {
      pairsOf<kNative>(numbers, words, whole);
    } else {
      for (std::int64_t p = 0; p < whole; ++p)
        words[p] = pairOf(numbers[2 * p * a.columnStride], numbers[(2 * p + 1) * a.columnStride]);
    }
    if (whole < pairs) words[whole] = pairOf(numbers[2 * whole * a.columnStride], Number{0});
  }
  return false;
}

// Whether A's rows are the words that a tile wants.
bool standsInWords(const MatrixView& a, std::int64_t k) {
  return a.half != nullptr && a.columnStride == 1 && a.rowStride % 2 == 0 && k % 2 == 0 &&
         reinterpret_cast<std::uintptr_t>(a.half) % sizeof(Word) == 0;
}

template <class T>
LOOM_INLINE void gemmWith(const GemmProblem& p, std::int64_t firstRow, std::int64_t lastRow, std::int64_t firstPanel,
                          std::int64_t lastPanel, float* scratch) {
  constexpr std::int64_t kWidth = T::kVectors * lanesOf<typename T::V>();
  constexpr bool kNative = std::is_same_v<T, TileNative>;
  const Word* packed = reinterpret_cast<const Word*>(p.packed);
  const std::int64_t allPairs = (p.k + 1) / 2, pairsAtOnce = p.half != nullptr ? std::max(allPairs, kPairs) : kPairs;
  const bool inPlace = standsInWords(p.a, p.k);
  const std::int64_t rowsAtOnce = inPlace ? kRowBlock : kRowBlock * kPairs / pairsAtOnce / T::kRows * T::kRows;
  for (std::int64_t row = firstRow; row < lastRow; row += rowsAtOnce) {
    const std::int64_t rows = std::min(rowsAtOnce, lastRow - row);
    const int tiles = static_cast<int>((rows + T::kRows - 1) / T::kRows);
    for (std::int64_t pair = 0; pair < allPairs; pair += pairsAtOnce) {
      const std::int64_t pairs = std::min(pairsAtOnce, allPairs - pair), steps = std::min(2 * pairs, p.k - 2 * pair);
      const Word* a = reinterpret_cast<const Word*>(scratch);
      std::int64_t rowStride = pairs, pairStride = 1;
      if (inPlace) {
        a = reinterpret_cast<const Word*>(p.a.half + row * p.a.rowStride) + pair;
        rowStride = p.a.rowStride / 2;
      } else {
        Word* to = reinterpret_cast<Word*>(scratch);
        const bool transposed = p.a.half != nullptr ? packRows<kNative>(p.a.half, p.a, row, rows, 2 * pair, steps, to)
                                                    : packRows<kNative>(p.a.data, p.a, row, rows, 2 * pair, steps, to);
        if (transposed) rowStride = 1, pairStride = rows;
      }
      for (std::int64_t panel = firstPanel; panel < lastPanel; ++panel) {
        const Word* b = packed + (panel * allPairs + pair) * kWidth;
        TilePlace place;
        place.ldc = p.ldc;
        place.columns = std::min(kWidth, p.n - panel * kWidth);
        place.bias = p.bias == nullptr ? nullptr : p.bias + panel * kWidth;
        place.add = p.accumulate || pair > 0;
        place.last = pair + pairs == allPairs;
        place.activation = p.activation;
        place.scale = p.scale;
        for (int t = 0; t < tiles; ++t) {
          const std::int64_t first = rows * t / tiles;
          const int height = static_cast<int>(rows * (t + 1) / tiles - first);
          const std::int64_t at = (row + first) * p.ldc + panel * kWidth;
          place.c = p.half != nullptr ? nullptr : p.c + at;
          place.half = p.half != nullptr ? p.half + at : nullptr;
          if (place.columns <= kWidth / T::kVectors)
            computeRows<T, 1>(height, a + first * rowStride, rowStride, pairStride, b, kWidth, pairs, place);
          else
            computeRows<T, T::kVectors>(height, a + first * rowStride, rowStride, pairStride, b, kWidth, pairs, place);
        }
      }
    }
  }
}

LOOM_TARGET_AVX512_BF16 void gemmNative(const GemmProblem& p, std::int64_t r0, std::int64_t r1, std::int64_t p0,
                                        std::int64_t p1, float* s) {
  gemmWith<TileNative>(p, r0, r1, p0, p1, s);
}
LOOM_TARGET_AVX512 void gemmAvx512(const GemmProblem& p, std::int64_t r0, std::int64_t r1, std::int64_t p0,
                                   std::int64_t p1, float* s) {
  gemmWith<Portable<TileAvx512>>(p, r0, r1, p0, p1, s);
}
LOOM_TARGET_AVX2 void gemmAvx2(const GemmProblem& p, std::int64_t r0, std::int64_t r1, std::int64_t p0, std::int64_t p1,
                               float* s) {
  gemmWith<Portable<TileAvx2>>(p, r0, r1, p0, p1, s);
}
void gemmBaseline(const GemmProblem& p, std::int64_t r0, std::int64_t r1, std::int64_t p0, std::int64_t p1, float* s) {
  gemmWith<Portable<TileBaseline>>(p, r0, r1, p0, p1, s);
}

// 32 steps of 16 columns, which are contiguous along K, into 16 pairs of them: as words, then transposed.
template <bool kNative, class Number>
LOOM_INLINE void packSquare(const Number* from, std::int64_t columnStride, Word* to, std::int64_t width) {
  alignas(64) Word words[kLanes * kLanes];
  for (std::int64_t j = 0; j < kLanes; ++j) {
    prefetchRow(from + j * columnStride + 2 * kLanes, 2 * kLanes);
    pairsOf<kNative>(from + j * columnStride, words + j * kLanes, kLanes);
  }
  transpose16(reinterpret_cast<const float*>(words), kLanes, reinterpret_cast<float*>(to), width);
}

template <bool kNative, class Number>
LOOM_INLINE void packPanelsFrom(const Number* data, float* packed, const MatrixView& b, std::int64_t k, std::int64_t n,
                                std::int64_t first, std::int64_t last, std::int64_t width) {
  const std::int64_t pairs = (k + 1) / 2, whole = k / 2;
  const auto numberAt = [&](std::int64_t step, std::int64_t column) {
    return step < k ? data[step * b.rowStride + column * b.columnStride] : Number{0};
  };
  for (std::int64_t panel = first; panel < last; ++panel) {
    Word* to = reinterpret_cast<Word*>(packed) + panel * pairs * width;
    const std::int64_t left = panel * width, columns = std::min(width, n - left);
    if (columns < width) std::fill_n(to, pairs * width, Word{0});
    std::int64_t done = 0;  // pairs
    if (b.columnStride == 1) {
      for (; done < whole; ++done) {
        const Number* upper = data + 2 * done * b.rowStride + left;
        wordsOf<kNative>(upper, upper + b.rowStride, to + done * width, columns);
      }
    } else if (b.rowStride == 1 && columns % kLanes == 0) {
      for (; done + kLanes <= whole; done += kLanes)
        for (std::int64_t j = 0; j < columns; j += kLanes)
          packSquare<kNative>(data + 2 * done + (left + j) * b.columnStride, b.columnStride, to + done * width + j,
                              width);
    }
    for (; done < pairs; ++done)
      for (std::int64_t j = 0; j < columns; ++j)
        to[done * width + j] = pairOf(numberAt(2 * done, left + j), numberAt(2 * done + 1, left + j));
  }
}

template <bool kNative>
LOOM_INLINE void packPanelsWith(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first,
                                std::int64_t last, std::int64_t width) {
  if (b.half != nullptr)
    packPanelsFrom<kNative>(b.half, packed, b, k, n, first, last, width);
  else
    packPanelsFrom<kNative>(b.data, packed, b, k, n, first, last, width);
}
LOOM_INLINE void packPanelsOfBody(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n,
                                  std::int64_t first, std::int64_t last, std::int64_t width) {
  packPanelsWith<false>(packed, b, k, n, first, last, width);
}
LOOM_CPU_KERNEL(void, packPanelsOf,
                (float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first,
                 std::int64_t last, std::int64_t width),
                (packed, b, k, n, first, last, width))
LOOM_TARGET_AVX512_BF16 void packPanelsNative(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n,
                                              std::int64_t first, std::int64_t last, std::int64_t width) {
  packPanelsWith<true>(packed, b, k, n, first, last, width);
}

}  // namespace

void packPanelsBf16(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first,
                    std::int64_t last) {
  (multipliesBf16() ? packPanelsNative : packPanelsOf)(packed, b, k, n, first, last, panelWidth());
}

void gemmBf16(const GemmProblem& problem, std::int64_t firstRow, std::int64_t lastRow, std::int64_t firstPanel,
              std::int64_t lastPanel, float* scratch) {
  if (multipliesInTiles()) return gemmTiles(problem, firstRow, lastRow, firstPanel, lastPanel, scratch);
  if (multipliesBf16()) return gemmNative(problem, firstRow, lastRow, firstPanel, lastPanel, scratch);
  switch (isa()) {
    case Isa::avx512:
      return gemmAvx512(problem, firstRow, lastRow, firstPanel, lastPanel, scratch);
    case Isa::avx2:
      return gemmAvx2(problem, firstRow, lastRow, firstPanel, lastPanel, scratch);
    case Isa::baseline:
      return gemmBaseline(problem, firstRow, lastRow, firstPanel, lastPanel, scratch);
  }
}

}  // namespace loom::cpu
