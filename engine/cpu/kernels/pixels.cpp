#include "engine/cpu/kernels/pixels.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "engine/cpu/kernels/gemm_tile.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kBlock = 64;  // pixels that are packed together: what they read stays in the level-1 cache

// What a tap reads for pixels that follow each other: null outside of the image.
template <class Number>
LOOM_INLINE void rowsOfTap(const PixelGeometry& g, const Number* x, std::int64_t first, std::int64_t count,
                           std::int64_t tap, const Number** rows) {
  std::int64_t column = first % g.outWidth, row = first / g.outWidth % g.outHeight,
               sample = first / (g.outWidth * g.outHeight);
  const std::int64_t down = tap / g.kernelWidth - g.top, right = tap % g.kernelWidth - g.left;
  for (std::int64_t p = 0; p < count;) {
    const std::int64_t i = row * g.down + down, end = std::min(count, p + g.outWidth - column);
    const bool inside = i >= 0 && i < g.height;
    const Number* from = x + (sample * g.height + i) * g.width * g.inputs;
    for (std::int64_t j = column * g.across + right; p < end; ++p, j += g.across)
      rows[p] = inside && j >= 0 && j < g.width ? from + j * g.inputs : nullptr;
    column = 0;
    if (++row == g.outHeight) {
      row = 0;
      ++sample;
    }
  }
}

// kColumns columns of `count` pixels, f32: a row of them for each.
template <int kColumns>
LOOM_INLINE void packColumns(const float* const* rows, std::int64_t count, std::int64_t column, std::int64_t next,
                             float* to, std::int64_t width) {
  for (std::int64_t p = 0; p < count; ++p, to += width) {
    prefetchRow(rows[p] + column + next, kColumns);
#pragma GCC unroll 4
    for (int c = 0; c < kColumns; c += static_cast<int>(kLanes))
      store(to + c, rows[p] == nullptr ? Vec{} : load(rows[p] + column + c));
  }
}

// In bf16: words of two pixels below each other, the upper one in the lower half.
typedef std::uint16_t Halves __attribute__((vector_size(64)));
typedef Halves HalvesUnaligned __attribute__((aligned(2), may_alias));
template <int kColumns>
LOOM_INLINE Halves halvesAt(const std::uint16_t* row, std::int64_t column) {
  if constexpr (kColumns >= 32) {
    return *reinterpret_cast<const HalvesUnaligned*>(row + column);
  } else {
    Halves halves{};
    std::memcpy(&halves, row + column, kColumns * sizeof(std::uint16_t));
    return halves;
  }
}
template <int kColumns>
LOOM_INLINE void packColumns(const std::uint16_t* const* rows, std::int64_t count, std::int64_t column,
                             std::int64_t next, float* to, std::int64_t width) {
  constexpr Halves kLow{0, 32, 1, 33, 2,  34, 3,  35, 4,  36, 5,  37, 6,  38, 7,  39,
                        8, 40, 9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47},
      kHigh{16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55,
            24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63};
  for (std::int64_t p = 0; p < count; p += 2, to += width) {
    const std::uint16_t* second = p + 1 < count ? rows[p + 1] : nullptr;
    prefetchRow(rows[p] + column + next, kColumns);
    prefetchRow(second + column + next, kColumns);
#pragma GCC unroll 2
    for (int c = 0; c < kColumns; c += 32) {
      const Halves upper = rows[p] == nullptr ? Halves{} : halvesAt<kColumns>(rows[p], column + c),
                   lower = second == nullptr ? Halves{} : halvesAt<kColumns>(second, column + c);
      store(to + c, (Vec)__builtin_shuffle(upper, lower, kLow));
      if constexpr (kColumns >= 32) store(to + c + 16, (Vec)__builtin_shuffle(upper, lower, kHigh));
    }
  }
}

template <int kColumns, class Number>
LOOM_INLINE void packFrom(const PixelGeometry& g, const Number* x, std::int64_t first, std::int64_t last,
                          std::int64_t firstColumn, std::int64_t lastColumn, float* packed, std::int64_t width) {
  constexpr std::int64_t kTogether = std::is_same_v<Number, float> ? 1 : 2;
  const std::int64_t panel = (last - first + kTogether - 1) / kTogether * width;
  const Number* rows[kBlock];
  // From a pixel to the one of the next block, but for the ends of rows: what is only fetched ahead may be another.
  const std::int64_t next = kBlock * g.down * g.across * g.inputs;
  for (std::int64_t pixel = first; pixel < last; pixel += kBlock) {
    const std::int64_t count = std::min(kBlock, last - pixel);
    float* to = packed + (pixel - first) / kTogether * width;
    for (std::int64_t at = firstColumn, tap = -1; at < lastColumn; at += kColumns) {
      if (at / g.inputs != tap) {
        tap = at / g.inputs;
        rowsOfTap(g, x, pixel, count, tap, rows);
      }
      const std::int64_t column = at - firstColumn;
      packColumns<kColumns>(rows, count, at - tap * g.inputs, next, to + column / width * panel + column % width,
                            width);
    }
    // A last panel that is not full is filled up with 0.
    for (std::int64_t column = lastColumn - firstColumn; column % width != 0; column += kLanes)
      for (std::int64_t p = 0; p < count; p += kTogether)
        store(to + column / width * panel + column % width + p / kTogether * width, Vec{});
  }
}

LOOM_INLINE void packPixelsOfBody(const PixelGeometry& g, Stored x, std::int64_t first, std::int64_t last,
                                  std::int64_t firstColumn, std::int64_t lastColumn, float* packed,
                                  std::int64_t width) {
  const bool wide = g.inputs % 64 == 0 && width == 64;
  if (x.bf16) {
    const auto* numbers = reinterpret_cast<const std::uint16_t*>(x.at);
    if (wide)
      packFrom<64>(g, numbers, first, last, firstColumn, lastColumn, packed, width);
    else
      packFrom<16>(g, numbers, first, last, firstColumn, lastColumn, packed, width);
  } else {
    const auto* numbers = reinterpret_cast<const float*>(x.at);
    if (wide)
      packFrom<64>(g, numbers, first, last, firstColumn, lastColumn, packed, width);
    else
      packFrom<16>(g, numbers, first, last, firstColumn, lastColumn, packed, width);
  }
}
LOOM_CPU_KERNEL(void, packPixelsOf,
                (const PixelGeometry& g, Stored x, std::int64_t first, std::int64_t last, std::int64_t firstColumn,
                 std::int64_t lastColumn, float* packed, std::int64_t width),
                (g, x, first, last, firstColumn, lastColumn, packed, width))

LOOM_INLINE void sumPixelGradientsBody(const PixelGeometry& g, const float* sums, int parts, float* dw, bool add,
                                       std::int64_t first, std::int64_t last) {
  const std::int64_t columns = g.columns(), taps = g.taps(), part = g.outputs * columns;
  for (std::int64_t output = first; output < last; ++output) {
    const float* row = sums + output * columns;
    float* to = dw + output * columns;
    const auto sumAt = [&](std::int64_t column) __attribute__((always_inline)) {
      Vec sum = load(row + column);
      for (int other = 1; other < parts; ++other) sum += load(row + other * part + column);
      return sum;
    };
    if (taps == 1) {
      for (std::int64_t c = 0; c < columns; c += kLanes) store(to + c, add ? load(to + c) + sumAt(c) : sumAt(c));
      continue;
    }
    for (std::int64_t c = 0; c < g.inputs; c += kLanes) {
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        alignas(64) float lanes[kLanes];
        store(lanes, sumAt(tap * g.inputs + c));
        float* at = to + c * taps + tap;
        for (std::int64_t lane = 0; lane < kLanes; ++lane) at[lane * taps] = lanes[lane] + (add ? at[lane * taps] : 0);
      }
    }
  }
}

}  // namespace

LOOM_CPU_KERNEL(void, sumPixelGradients,
                (const PixelGeometry& g, const float* sums, int parts, float* dw, bool add, std::int64_t first,
                 std::int64_t last),
                (g, sums, parts, dw, add, first, last))

void packPixels(const PixelGeometry& g, Stored x, std::int64_t first, std::int64_t last, std::int64_t firstColumn,
                std::int64_t lastColumn, float* packed) {
  packPixelsOf(g, x, first, last, firstColumn, lastColumn, packed, panelWidth());
}

namespace {

// Calls f(number of the first input of a pixel that a result reads, number of that result's first input in a row of
// them) for `rows` rows of results; g(first, last numbers of inputs) before each row for the rows of inputs up to the
// next.
template <class F, class G>
void forEachPixel(const PixelGeometry& g, std::int64_t first, std::int64_t rows, F f, G ofRow) {
  for (std::int64_t r = first; r < first + rows; ++r) {
    const std::int64_t row = r % g.outHeight, sample = r / g.outHeight;
    const std::int64_t begin = row == 0 ? 0 : row * g.down, end = row + 1 == g.outHeight ? g.height : begin + g.down;
    ofRow((sample * g.height + begin) * g.width * g.inputs, (sample * g.height + end) * g.width * g.inputs);
    for (std::int64_t j = 0; j < g.outWidth; ++j)
      f(((sample * g.height + row * g.down) * g.width + j * g.across) * g.inputs,
        ((r - first) * g.outWidth + j) * g.inputs);
  }
}

}  // namespace

void gatherPixels(const PixelGeometry& g, Stored x, std::int64_t first, std::int64_t rows, Stored to) {
  const auto bytes = static_cast<std::size_t>(g.inputs) * (x.bf16 ? 2 : 4);
  forEachPixel(
      g, first, rows, [&](std::int64_t at, std::int64_t of) { std::memcpy(to.from(of).at, x.from(at).at, bytes); },
      [](std::int64_t, std::int64_t) {});
}

void scatterPixels(const PixelGeometry& g, Stored from, std::int64_t first, std::int64_t rows, Stored x) {
  const std::size_t bytes = x.bf16 ? 2 : 4;
  forEachPixel(
      g, first, rows,
      [&](std::int64_t at, std::int64_t of) {
        std::memcpy(x.from(at).at, from.from(of).at, static_cast<std::size_t>(g.inputs) * bytes);
      },
      [&](std::int64_t begin, std::int64_t end) {
        std::memset(x.from(begin).at, 0, static_cast<std::size_t>(end - begin) * bytes);
      });
}

}  // namespace loom::cpu
