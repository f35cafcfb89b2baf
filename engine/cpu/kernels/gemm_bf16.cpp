#include "engine/cpu/kernels/gemm_bf16.h"

#include <algorithm>
#include <type_traits>

#include "engine/cpu/kernels/bf16.h"
#include "engine/cpu/kernels/gemm_amx.h"
#include "engine/cpu/kernels/gemm_tile.h"

#define LOOM_TARGET_AVX512_BF16 \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx2,fma,bmi2,prefer-vector-width=512")))

namespace loom::cpu {
namespace {

using Word = std::uint32_t;             // two steps: the first in the lower half
constexpr std::int64_t kPairs = 256;    // of K at a time: a panel block and the block of A stay in the level-2 cache
constexpr std::int64_t kRowBlock = 96;  // kRowBlock x 2 kPairs floats are what gemmScratch() gives

struct TileNative : TileAvx512 {};  // with vdpbf16ps
// Without it: two rows are enough for a path that nobody takes for its speed, and compile in a fraction of the time.
template <class T>
struct Portable {
  typedef typename T::V V;
  static constexpr int kRows = 2, kVectors = T::kVectors;
};

template <class V>
struct WordsOf {
  typedef Word type __attribute__((vector_size(sizeof(V))));
  typedef Word unaligned __attribute__((vector_size(sizeof(V)), aligned(4), may_alias));
};

// sums[r][v] += sum over pairs of a[r * rowStride + pair * pairStride] . b[pair * panel + v * lanes ...]
template <class T, int kRows, int kVectors>
LOOM_INLINE void multiplyPairs(typename T::V (&sums)[kRows][kVectors], const Word* a, std::int64_t rowStride,
                               std::int64_t pairStride, const Word* b, std::int64_t panel, std::int64_t pairs) {
  typedef typename T::V V;
  typedef typename WordsOf<V>::type Words;
  for (std::int64_t pair = 0; pair < pairs; ++pair) {
    Words row[kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      row[v] = *reinterpret_cast<const typename WordsOf<V>::unaligned*>(b + v * lanesOf<V>());
    if constexpr (std::is_same_v<T, TileNative>) {
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const Words both = a[r * rowStride] + Words{};
        // In assembler, because the intrinsic cannot be inlined into a body that is compiled for several targets.
#pragma GCC unroll 8
        for (int v = 0; v < kVectors; ++v) {
          V sum = sums[r][v];  // an element of an array as the operand would pin the array to memory
          asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(row[v]), "v"(both));
          sums[r][v] = sum;
        }
      }
    } else {
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) {
        const V first = (V)(row[v] << 16), second = (V)(row[v] & 0xffff0000u);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          const Word both = a[r * rowStride];
          float low, high;
          const Word lowBits = both << 16, highBits = both & 0xffff0000u;
          std::memcpy(&low, &lowBits, sizeof low);
          std::memcpy(&high, &highBits, sizeof high);
          sums[r][v] += low * first;
          sums[r][v] += high * second;
        }
      }
    }
    a += pairStride;
    b += panel;
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
  multiplyPairs<T, kRows, kVectors>(sums, a, rowStride, pairStride, b, panel, pairs);
  storeTile<typename T::V, kRows, kVectors>(sums, place);
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

// Rows [row, row + count) and steps [step, step + steps) of A as words: [pair][row] where A's columns are contiguous
// (it is transposed), else [row][pair]. Answers whether it is the former.
LOOM_INLINE bool packRows(const MatrixView& a, std::int64_t row, std::int64_t count, std::int64_t step,
                          std::int64_t steps, Word* to) {
  const float* from = a.data + row * a.rowStride + step * a.columnStride;
  const std::int64_t whole = steps / 2, pairs = (steps + 1) / 2;
  if (a.rowStride == 1) {
    for (std::int64_t p = 0; p < whole; ++p) {
      const float *first = from + 2 * p * a.columnStride, *second = first + a.columnStride;
      for (std::int64_t r = 0; r < count; ++r) to[p * count + r] = pairOf(first[r], second[r]);
    }
    if (whole < pairs)
      for (std::int64_t r = 0; r < count; ++r) to[whole * count + r] = pairOf(from[2 * whole * a.columnStride + r], 0);
    return true;
  }
  for (std::int64_t r = 0; r < count; ++r) {
    const float* numbers = from + r * a.rowStride;
    Word* words = to + r * pairs;
    if (a.columnStride == 1) {
      for (std::int64_t p = 0; p < whole; ++p) words[p] = pairOf(numbers[2 * p], numbers[2 * p + 1]);
    } else {
      for (std::int64_t p = 0; p < whole; ++p)
        words[p] = pairOf(numbers[2 * p * a.columnStride], numbers[(2 * p + 1) * a.columnStride]);
    }
    if (whole < pairs) words[whole] = pairOf(numbers[2 * whole * a.columnStride], 0);
  }
  return false;
}

template <class T>
LOOM_INLINE void gemmWith(const GemmProblem& p, std::int64_t firstRow, std::int64_t lastRow, std::int64_t firstPanel,
                          std::int64_t lastPanel, float* scratch) {
  constexpr std::int64_t kWidth = T::kVectors * lanesOf<typename T::V>();
  const Word* packed = reinterpret_cast<const Word*>(p.packed);
  Word* a = reinterpret_cast<Word*>(scratch);
  const std::int64_t allPairs = (p.k + 1) / 2;
  for (std::int64_t row = firstRow; row < lastRow; row += kRowBlock) {
    const std::int64_t rows = std::min(kRowBlock, lastRow - row);
    const int tiles = static_cast<int>((rows + T::kRows - 1) / T::kRows);
    for (std::int64_t pair = 0; pair < allPairs; pair += kPairs) {
      const std::int64_t pairs = std::min(kPairs, allPairs - pair);
      const bool transposed = packRows(p.a, row, rows, 2 * pair, std::min(2 * pairs, p.k - 2 * pair), a);
      const std::int64_t rowStride = transposed ? 1 : pairs, pairStride = transposed ? rows : 1;
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
          place.c = p.c + (row + first) * p.ldc + panel * kWidth;
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

// 32 steps of 16 columns, which are contiguous along K, into 16 pairs of them: rounded, then transposed as words.
LOOM_INLINE void packSquare(const float* from, std::int64_t columnStride, Word* to, std::int64_t width) {
  alignas(64) Word words[kLanes * kLanes];
  for (std::int64_t j = 0; j < kLanes; ++j)
    for (std::int64_t p = 0; p < kLanes; ++p)
      words[j * kLanes + p] = pairOf(from[j * columnStride + 2 * p], from[j * columnStride + 2 * p + 1]);
  transpose16(reinterpret_cast<const float*>(words), kLanes, reinterpret_cast<float*>(to), width);
}

LOOM_INLINE void packPanelsOfBody(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n,
                                  std::int64_t first, std::int64_t last, std::int64_t width) {
  const std::int64_t pairs = (k + 1) / 2, whole = k / 2;
  const auto numberAt = [&](std::int64_t step, std::int64_t column) {
    return step < k ? b.data[step * b.rowStride + column * b.columnStride] : 0.0f;
  };
  for (std::int64_t panel = first; panel < last; ++panel) {
    Word* to = reinterpret_cast<Word*>(packed) + panel * pairs * width;
    const std::int64_t left = panel * width, columns = std::min(width, n - left);
    if (columns < width) std::fill_n(to, pairs * width, Word{0});
    std::int64_t done = 0;  // pairs
    if (b.columnStride == 1) {
      for (; done < whole; ++done) {
        const float *upper = b.data + 2 * done * b.rowStride + left, *lower = upper + b.rowStride;
        for (std::int64_t j = 0; j < columns; ++j) to[done * width + j] = pairOf(upper[j], lower[j]);
      }
    } else if (b.rowStride == 1 && columns % kLanes == 0) {
      for (; done + kLanes <= whole; done += kLanes)
        for (std::int64_t j = 0; j < columns; j += kLanes)
          packSquare(b.data + 2 * done + (left + j) * b.columnStride, b.columnStride, to + done * width + j, width);
    }
    for (; done < pairs; ++done)
      for (std::int64_t j = 0; j < columns; ++j)
        to[done * width + j] = pairOf(numberAt(2 * done, left + j), numberAt(2 * done + 1, left + j));
  }
}
LOOM_CPU_KERNEL(void, packPanelsOf,
                (float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first,
                 std::int64_t last, std::int64_t width),
                (packed, b, k, n, first, last, width))

}  // namespace

void packPanelsBf16(float* packed, const MatrixView& b, std::int64_t k, std::int64_t n, std::int64_t first,
                    std::int64_t last) {
  packPanelsOf(packed, b, k, n, first, last, panelWidth());
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
