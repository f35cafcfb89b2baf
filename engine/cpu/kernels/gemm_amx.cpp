// C in blocks of 32 x 32, two by two tiles of 16 x 16: each step of 32 numbers of K loads two tiles of A and two of B
// and multiplies each with each. The packed B is what a tile wants: rows of 16 words, each two steps of K.
#include "engine/cpu/kernels/gemm_amx.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>

#include "engine/cpu/kernels/bf16.h"
#include "engine/cpu/kernels/gemm_tile.h"

// By hand, since the compiler's own forms do not say that they read or write memory.
#define LOOM_TILE_LOAD(tile, from, stride) \
  asm volatile("tileloadd (%0,%1,1), %%tmm" #tile ::"r"(from), "r"(stride) : "memory")
#define LOOM_TILE_STORE(tile, to, stride) \
  asm volatile("tilestored %%tmm" #tile ", (%0,%1,1)" ::"r"(to), "r"(stride) : "memory")
#define LOOM_TILE_ZERO(tile) asm volatile("tilezero %%tmm" #tile ::)
#define LOOM_TILE_MULTIPLY(sum, a, b) asm volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #sum ::)

namespace loom::cpu {
namespace {

using Word = std::uint32_t;  // two steps of K: the first in the lower half
constexpr std::int64_t kTile = 16, kBlock = 2 * kTile;
constexpr std::int64_t kPairs = 512, kRowBlock = 96;  // as gemm_bf16.cpp: what gemmScratch() gives
constexpr std::int64_t kPanel = 64;                   // panelWidth() with AVX-512

constexpr unsigned kAskForState = 0x1023, kTileData = 18;  // arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA)

bool detect() {
  if (std::getenv("GRADLOOM_ISA") != nullptr || !multipliesBf16() || panelWidth() != kPanel) return false;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  constexpr unsigned kAmxBf16 = 1U << 22, kAmxTile = 1U << 24;
  if ((d & kAmxBf16) == 0 || (d & kAmxTile) == 0) return false;
  return syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;  // for all threads, those that run already too
}

// Eight tiles of 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, startRow = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  std::uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// The thread's tiles hold their shapes for one call: what others (oneDNN) make of them is their own.
class Tiles {
 public:
  Tiles() {
    const TileShapes shapes;
    asm volatile("ldtilecfg %0" ::"m"(shapes) : "memory");
  }
  ~Tiles() { asm volatile("tilerelease" ::); }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

// Sixteen words of 32 numbers, rounded to the nearest even.
LOOM_TARGET_AVX512_BF16 LOOM_INLINE __m512i wordsOf(__m512 first, __m512 second) {
  return (__m512i)_mm512_cvtne2ps_pbh(second, first);
}

template <class Number>
LOOM_INLINE void gather(const Number* from, std::int64_t stride, std::int64_t count, Number* to) {
  if (stride == 1 && count == kTile)
    std::memcpy(to, from, kTile * sizeof(Number));
  else
    for (std::int64_t j = 0; j < count; ++j) to[j] = from[j * stride];
}

LOOM_INLINE Word pairOf(float first, float second) {
  return bf16Bits(first) >> 16 | bf16Bits(second);
}
LOOM_INLINE Word pairOf(std::uint16_t first, std::uint16_t second) {
  return first | Word{second} << 16;
}

// `steps` neighbours as words, zeros up to `pairs` words.
LOOM_TARGET_AVX512_BF16 LOOM_INLINE void packRow(const float* numbers, std::int64_t steps, std::int64_t pairs,
                                                 Word* to) {
  for (std::int64_t p = 0; p < pairs; p += kTile) {
    const std::int64_t left = std::clamp<std::int64_t>(steps - 2 * p, 0, kBlock);
    const auto mask = static_cast<std::uint32_t>((std::uint64_t{1} << left) - 1);
    const __m512 first = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), numbers + 2 * p),
                 second = _mm512_maskz_loadu_ps(static_cast<__mmask16>(mask >> 16), numbers + 2 * p + kTile);
    _mm512_storeu_si512(to + p, wordsOf(first, second));
  }
}
LOOM_INLINE void packRow(const std::uint16_t* numbers, std::int64_t steps, std::int64_t pairs, Word* to) {
  std::memcpy(to, numbers, static_cast<std::size_t>(steps) * sizeof *numbers);
  std::memset(reinterpret_cast<std::uint16_t*>(to) + steps, 0,
              static_cast<std::size_t>(2 * pairs - steps) * sizeof *numbers);
}

// Rows [row, row + count) and steps [step, step + steps) of A as words [row][pair], zeros up to whole tiles.
template <class Number>
LOOM_TARGET_AVX512_BF16 LOOM_INLINE void packRows(const Number* data, const MatrixView& a, std::int64_t row,
                                                  std::int64_t count, std::int64_t step, std::int64_t steps,
                                                  std::int64_t pairs, Word* to) {
  const Number* from = data + row * a.rowStride + step * a.columnStride;
  const std::int64_t rows = (count + kTile - 1) / kTile * kTile;
  if (a.columnStride == 1) {
    for (std::int64_t r = 0; r < count; ++r) packRow(from + r * a.rowStride, steps, pairs, to + r * pairs);
  } else {
    // Sixteen rows of sixteen pairs at a time: pairs are made where rows are contiguous, then transposed as words.
    alignas(64) Word square[kTile * kTile];
    for (std::int64_t p = 0; p < pairs; p += kTile) {
      for (std::int64_t r = 0; r < count; r += kTile) {
        const std::int64_t here = std::min(kTile, count - r);
        for (std::int64_t i = 0; i < kTile; ++i) {
          const std::int64_t at = 2 * (p + i);
          const Number* numbers = from + at * a.columnStride + r * a.rowStride;
          alignas(64) Number first[kTile] = {}, second[kTile] = {};
          if (at < steps) gather(numbers, a.rowStride, here, first);
          if (at + 1 < steps) gather(numbers + a.columnStride, a.rowStride, here, second);
          for (std::int64_t j = 0; j < kTile; ++j) square[i * kTile + j] = pairOf(first[j], second[j]);
        }
        transpose16(reinterpret_cast<const float*>(square), kTile, reinterpret_cast<float*>(to + r * pairs + p), pairs);
      }
    }
  }
  if (a.columnStride == 1 && count < rows) std::fill_n(to + count * pairs, (rows - count) * pairs, Word{0});
}

// Steps of one block: A at `a` (rows of `stride` words), B at `b` (rows of a panel). Sums stay in tiles 0 to 3.
template <bool kTwoRows>
LOOM_INLINE void multiplyBlock(const Word* a, std::int64_t stride, const Word* b, std::int64_t steps) {
  const std::int64_t strideA = stride * 4, strideB = kPanel * 4;
  for (std::int64_t s = 0; s < steps; ++s) {
    LOOM_TILE_LOAD(6, b, strideB);
    LOOM_TILE_LOAD(4, a, strideA);
    LOOM_TILE_LOAD(7, b + kTile, strideB);
    LOOM_TILE_MULTIPLY(0, 4, 6);
    if constexpr (kTwoRows) LOOM_TILE_LOAD(5, a + kTile * stride, strideA);
    LOOM_TILE_MULTIPLY(1, 4, 7);
    if constexpr (kTwoRows) {
      LOOM_TILE_MULTIPLY(2, 5, 6);
      LOOM_TILE_MULTIPLY(3, 5, 7);
    }
    a += kTile;
    b += kTile * kPanel;
  }
}

// Where B's last pairs fill no tile, they stand in `tail` with zeros behind them.
struct Factors {
  const Word* a;
  std::int64_t stride;
  const Word* b;
  const Word* tail;
  std::int64_t whole;  // steps before the tail
};

template <bool kTwoRows>
LOOM_INLINE void multiplyAll(const Factors& f) {
  multiplyBlock<kTwoRows>(f.a, f.stride, f.b, f.whole);
  if (f.tail != nullptr) multiplyBlock<kTwoRows>(f.a + f.whole * kTile, f.stride, f.tail, 1);
}

LOOM_TARGET_AVX512_BF16 LOOM_INLINE void computeBlock(const Factors& factors, std::int64_t rows, TilePlace place) {
  const std::int64_t stride = place.ldc * 4;
  const bool epilogue = place.half != nullptr || place.scale != 1 ||
                        (place.last && (place.bias != nullptr || place.activation != Activation::none));
  if (rows == kBlock && place.columns == kBlock && !epilogue) {
    float* const c = place.c;
    if (place.add) {
      LOOM_TILE_LOAD(0, c, stride);
      LOOM_TILE_LOAD(1, c + kTile, stride);
      LOOM_TILE_LOAD(2, c + kTile * place.ldc, stride);
      LOOM_TILE_LOAD(3, c + kTile * place.ldc + kTile, stride);
    } else {
      LOOM_TILE_ZERO(0);
      LOOM_TILE_ZERO(1);
      LOOM_TILE_ZERO(2);
      LOOM_TILE_ZERO(3);
    }
    multiplyAll<true>(factors);
    LOOM_TILE_STORE(0, c, stride);
    LOOM_TILE_STORE(1, c + kTile, stride);
    LOOM_TILE_STORE(2, c + kTile * place.ldc, stride);
    LOOM_TILE_STORE(3, c + kTile * place.ldc + kTile, stride);
    return;
  }
  alignas(64) float sums[kBlock * kBlock];
  constexpr std::int64_t kStride = kBlock * 4;
  LOOM_TILE_ZERO(0);
  LOOM_TILE_ZERO(1);
  if (rows > kTile) {
    LOOM_TILE_ZERO(2);
    LOOM_TILE_ZERO(3);
    multiplyAll<true>(factors);
    LOOM_TILE_STORE(2, sums + kTile * kBlock, kStride);
    LOOM_TILE_STORE(3, sums + kTile * kBlock + kTile, kStride);
  } else {
    multiplyAll<false>(factors);
  }
  LOOM_TILE_STORE(0, sums, kStride);
  LOOM_TILE_STORE(1, sums + kTile, kStride);
  for (std::int64_t r = 0; r < rows; ++r) {
    Vec row[1][2] = {{load(sums + r * kBlock), load(sums + r * kBlock + kTile)}};
    if (place.half != nullptr) {
      storeTileHalf<Vec, 1, 2>(row, place);
      place.half += place.ldc;
      continue;
    }
    storeTile<Vec, 1, 2>(row, place);
    place.c += place.ldc;
  }
}

LOOM_TARGET_AVX512_BF16 void multiplyInTiles(const GemmProblem& p, std::int64_t firstRow, std::int64_t lastRow,
                                             std::int64_t firstPanel, std::int64_t lastPanel, float* scratch) {
  const Tiles tiles;
  const Word* packed = reinterpret_cast<const Word*>(p.packed);
  Word* a = reinterpret_cast<Word*>(scratch);
  alignas(64) Word tail[kTile * kPanel];
  const std::int64_t allPairs = (p.k + 1) / 2;
  // What is rounded into a bf16 C are sums over all of K.
  const std::int64_t pairsAtOnce =
                         p.half != nullptr ? std::max(kPairs, (allPairs + kTile - 1) / kTile * kTile) : kPairs,
                     rowsAtOnce = kRowBlock * kPairs / pairsAtOnce / kBlock * kBlock;
  for (std::int64_t row = firstRow; row < lastRow; row += rowsAtOnce) {
    const std::int64_t rows = std::min(rowsAtOnce, lastRow - row);
    for (std::int64_t pair = 0; pair < allPairs; pair += pairsAtOnce) {
      const std::int64_t pairs = std::min(pairsAtOnce, allPairs - pair), whole = pairs / kTile, rest = pairs % kTile;
      const std::int64_t stride = (whole + (rest > 0 ? 1 : 0)) * kTile, steps = std::min(2 * pairs, p.k - 2 * pair);
      if (p.a.half != nullptr)
        packRows(p.a.half, p.a, row, rows, 2 * pair, steps, stride, a);
      else
        packRows(p.a.data, p.a, row, rows, 2 * pair, steps, stride, a);
      for (std::int64_t panel = firstPanel; panel < lastPanel; ++panel) {
        const Word* b = packed + (panel * allPairs + pair) * kPanel;
        if (rest > 0) {
          std::memcpy(tail, b + whole * kTile * kPanel, static_cast<std::size_t>(rest * kPanel) * sizeof(Word));
          std::fill_n(tail + rest * kPanel, (kTile - rest) * kPanel, Word{0});
        }
        for (std::int64_t half = 0; half < kPanel && panel * kPanel + half < p.n; half += kBlock) {
          const std::int64_t column = panel * kPanel + half;
          TilePlace place;
          place.ldc = p.ldc;
          place.columns = std::min(kBlock, p.n - column);
          place.bias = p.bias == nullptr ? nullptr : p.bias + column;
          place.add = p.accumulate || pair > 0;
          place.last = pair + pairs == allPairs;
          place.activation = p.activation;
          place.scale = p.scale;
          for (std::int64_t first = 0; first < rows; first += kBlock) {
            const std::int64_t at = (row + first) * p.ldc + column;
            place.c = p.half != nullptr ? nullptr : p.c + at;
            place.half = p.half != nullptr ? p.half + at : nullptr;
            computeBlock({a + first * stride, stride, b + half, rest > 0 ? tail + half : nullptr, whole},
                         std::min(kBlock, rows - first), place);
          }
        }
      }
    }
  }
}

}  // namespace

bool multipliesInTiles() {
  static const bool can = detect();
  return can;
}

void gemmTiles(const GemmProblem& problem, std::int64_t firstRow, std::int64_t lastRow, std::int64_t firstPanel,
               std::int64_t lastPanel, float* scratch) {
  multiplyInTiles(problem, firstRow, lastRow, firstPanel, lastPanel, scratch);
}

}  // namespace loom::cpu

#else

namespace loom::cpu {

bool multipliesInTiles() {
  return false;
}
void gemmTiles(const GemmProblem&, std::int64_t, std::int64_t, std::int64_t, std::int64_t, float*) {}

}  // namespace loom::cpu

#endif
