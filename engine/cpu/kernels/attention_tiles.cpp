#include "engine/cpu/kernels/attention_tiles.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/kernels/gemm_tile.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kTile = 6;                // queries, or keys, of a tile of sums
constexpr std::int64_t kColumns = kNarrowPanel;  // of a tile: a panel of packed B
constexpr std::int64_t kPairs = 24576;           // weights of a block of queries: with their slopes, 192 KiB of level 2

std::int64_t up(std::int64_t count, std::int64_t to) {
  return (count + to - 1) / to * to;
}
// From a row of weights to the next. Not a multiple of 4 KiB: a column of them would have few places in level 1.
std::int64_t rowOf(const AttentionHead& head) {
  return up(head.keys, 2 * kColumns) + kColumns;
}
// Queries of which all weights are kept at once.
std::int64_t blockOf(const AttentionHead& head) {
  return std::max(4 * kTile, std::min(kPairs / rowOf(head) / kTile * kTile, up(head.queries, kTile)));
}
// Tiles of queries and of keys begin at the same numbers: the first is the short one, as causal ones are longer later.
std::int64_t tileEnd(std::int64_t first, std::int64_t count) {
  return first == 0 ? std::min(count, (count - 1) % kTile + 1) : first + kTile;
}
LOOM_INLINE std::int64_t seenBy(const AttentionHead& head, std::int64_t query) {
  return head.causal ? std::min(head.keys, query + 1) : head.keys;
}

// Where sums go: rows `ld` apart, `columns` of them; each row times its factor, added to what is there or not.
struct Place {
  float* to;
  std::int64_t ld, columns;
  const float* factors = nullptr;
  bool add = false;
};

template <int kRows, int kVectors>
LOOM_INLINE void putTile(Vec8 (&sums)[kRows][kVectors], const Place& place, std::int64_t column) {
  constexpr std::int64_t kWidth = 8 * kVectors;
  const std::int64_t columns = std::min(kWidth, place.columns - column);
  float* to = place.to + column;
  if (place.factors != nullptr) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) sums[r][v] *= place.factors[r];
    }
  }
  if (columns == kWidth && !place.add) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) store8(to + r * place.ld + 8 * v, sums[r][v]);
    }
  } else {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const Two sum{sums[r][0], kVectors == 2 ? sums[r][kVectors - 1] : Vec8{}};
      float* row = to + r * place.ld;
      storeSome(row, place.add ? sum + loadSomeOf<Two>(row, columns) : sum, columns);
    }
  }
}
template <int kRows, int kVectors>
LOOM_INLINE void computeTile(const float* a, std::int64_t rowStride, std::int64_t stepStride, const float* b,
                             std::int64_t steps, const Place& place, std::int64_t column) {
  Vec8 sums[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sums[r][v] = Vec8{};
  }
  multiplyTile<Vec8, kRows, kVectors>(sums, a, rowStride, stepStride, b, kColumns, steps);
  putTile<kRows, kVectors>(sums, place, column);
}
// A few rows times all panels of packed B, each as many steps as `panelSteps` of which `steps` are multiplied; of the
// last panel half, where that is enough.
template <int kRows>
LOOM_TARGET_AVX2 __attribute__((noinline)) void multiplyRows(const float* a, std::int64_t rowStride,
                                                             std::int64_t stepStride, const float* b,
                                                             std::int64_t panelSteps, std::int64_t steps,
                                                             const Place& at) {
  const Place place = at;
  std::int64_t column = 0;
  for (; column + 8 < place.columns; column += kColumns)
    computeTile<kRows, 2>(a, rowStride, stepStride, b + column * panelSteps, steps, place, column);
  if (column < place.columns)
    computeTile<kRows, 1>(a, rowStride, stepStride, b + column * panelSteps, steps, place, column);
}
void multiply(std::int64_t rows, const float* a, std::int64_t rowStride, std::int64_t stepStride, const float* b,
              std::int64_t panelSteps, std::int64_t steps, const Place& place) {
  switch (rows) {
    case 1:
      return multiplyRows<1>(a, rowStride, stepStride, b, panelSteps, steps, place);
    case 2:
      return multiplyRows<2>(a, rowStride, stepStride, b, panelSteps, steps, place);
    case 3:
      return multiplyRows<3>(a, rowStride, stepStride, b, panelSteps, steps, place);
    case 4:
      return multiplyRows<4>(a, rowStride, stepStride, b, panelSteps, steps, place);
    case 5:
      return multiplyRows<5>(a, rowStride, stepStride, b, panelSteps, steps, place);
    default:
      return multiplyRows<6>(a, rowStride, stepStride, b, panelSteps, steps, place);
  }
}

// The largest number of all lanes, or their sum.
LOOM_INLINE float largest8(Vec8 v) {
  return across8(
      v, [](Vec8 a, Vec8 b) __attribute__((always_inline)) { return a > b ? a : b; });
}
LOOM_INLINE float sum8(Vec8 v) {
  return across8(
      v, [](Vec8 a, Vec8 b) __attribute__((always_inline)) { return a + b; });
}

// A tile of queries: rows `ld` apart, six of them whatever the tile holds, so that they can be computed at once. The
// first sees `seen` keys, the last `end`; between are causal ones, each of which sees one more.
struct Rows {
  std::int64_t count, ld, seen, end;
  float scale;
};
// Calls f(j, chosen) for eight keys at a time: those that all rows see, then those that some see, where chosen(r, v) is
// v with 0 for what row r does not see.
template <class F>
LOOM_INLINE void forKeys(const Rows& rows, F f) {
  std::int64_t j = 0;
  for (; j + 8 <= rows.seen; j += 8)
    f(
        j, [](int, Vec8 v) __attribute__((always_inline)) { return v; });
  for (; j < rows.end; j += 8) {
    const Vec8I lanes = Vec8I{0, 1, 2, 3, 4, 5, 6, 7} + static_cast<std::int32_t>(j);
    f(
        j, [&](int r, Vec8 v) __attribute__((always_inline)) {
          return where(lanes < static_cast<std::int32_t>(std::min(rows.seen + r, rows.end)), v);
        });
  }
}

// Unscaled scores to e^(scale (score - the row's largest)), and 0 as far as the last row sees; what the largest times
// the scale is, and the sums.
LOOM_TARGET_AVX2 void attendTile(const Rows& of, float* scores, float* tops, float* sums) {
  const Rows rows = of;
  const Vec8 none = (Vec8)(Vec8I{} + static_cast<std::int32_t>(0xff800000));
  Vec8 best[kTile], total[kTile];
#pragma GCC unroll 6
  for (int r = 0; r < kTile; ++r) {
    best[r] = none;
    total[r] = Vec8{};
  }
  std::int64_t j = 0;
  for (; j + 8 <= rows.seen; j += 8) {
#pragma GCC unroll 6
    for (int r = 0; r < kTile; ++r) {
      const Vec8 s = load8(scores + r * rows.ld + j);
      best[r] = best[r] > s ? best[r] : s;
    }
  }
  for (; j < rows.end; j += 8) {
    const Vec8I lanes = Vec8I{0, 1, 2, 3, 4, 5, 6, 7} + static_cast<std::int32_t>(j);
#pragma GCC unroll 6
    for (int r = 0; r < kTile; ++r) {
      const Vec8I inside = lanes < static_cast<std::int32_t>(std::min(rows.seen + r, rows.end));
      const Vec8 s = inside ? load8(scores + r * rows.ld + j) : none;
      best[r] = best[r] > s ? best[r] : s;
    }
  }
#pragma GCC unroll 6
  for (int r = 0; r < kTile; ++r) tops[r] = rows.scale * largest8(best[r]);
  forKeys(
      rows, [&](std::int64_t at, auto seen) __attribute__((always_inline)) {
#pragma GCC unroll 6
        for (int r = 0; r < kTile; ++r) {
          float* to = scores + r * rows.ld + at;
          const Vec8 e = seen(r, expWithin(load8(to) * rows.scale - tops[r]));
          total[r] += e;
          store8(to, e);
        }
      });
#pragma GCC unroll 6
  for (int r = 0; r < kTile; ++r) sums[r] = sum8(total[r]);
}

// Unscaled scores to p = e^(scale score - statistic), and dp to ds = p (dp - dy y) scale; 0 as far as the last row
// sees.
LOOM_TARGET_AVX2 void slopesTile(const Rows& of, float* scores, float* slopes, const float* y, const float* dy,
                                 std::int64_t width, std::int64_t stride, const float* statistics) {
  const Rows rows = of;
  float dots[kTile] = {}, statistic[kTile] = {};
  for (std::int64_t r = 0; r < rows.count; ++r) {
    const float *yRow = y + r * stride, *dyRow = dy + r * stride;
    Vec8 products{};
    std::int64_t i = 0;
    for (; i + 8 <= width; i += 8) products += load8(yRow + i) * load8(dyRow + i);
    dots[r] = sum8(products);
    for (; i < width; ++i) dots[r] += yRow[i] * dyRow[i];
    statistic[r] = statistics[r];
  }
  forKeys(
      rows, [&](std::int64_t at, auto seen) __attribute__((always_inline)) {
#pragma GCC unroll 6
        for (int r = 0; r < kTile; ++r) {
          float *score = scores + r * rows.ld + at, *slope = slopes + r * rows.ld + at;
          const Vec8 p = expWithin(load8(score) * rows.scale - statistic[r]);
          const Vec8 ds = p * ((load8(slope) - dots[r]) * rows.scale);
          store8(score, seen(r, p));
          store8(slope, seen(r, ds));
        }
      });
}

// Rows of `matrix` as panels of its columns, or transposed: panels of its rows.
void packColumns(const AttentionHead& head, const float* matrix, std::int64_t rows, float* to) {
  packNarrowPanels(to, {matrix, head.stride, 1}, rows, head.width);
}
void packTransposed(const AttentionHead& head, const float* matrix, std::int64_t rows, float* to) {
  packNarrowPanels(to, {matrix, 1, head.stride}, head.width, rows);
}
std::int64_t columnsFloats(const AttentionHead& head, std::int64_t rows) {
  return packedFloats(rows, head.width, kColumns);
}
std::int64_t transposedFloats(const AttentionHead& head, std::int64_t rows) {
  return packedFloats(head.width, rows, kColumns);
}

}  // namespace

bool attendsInTiles(const AttentionHead& head) {
  return peaksAt256Bits() && !head.bf16 && head.scale > 0;
}

std::int64_t attentionTilesScratch(const AttentionHead& head) {
  return 2 * blockOf(head) * rowOf(head) + 2 * transposedFloats(head, head.keys) + columnsFloats(head, head.keys) +
         2 * columnsFloats(head, head.queries);
}

void attentionTilesForward(const AttentionHead& head, const float* q, const float* k, const float* v, float* y,
                           float* statistics, float* scratch) {
  const std::int64_t ld = rowOf(head);
  float *scores = scratch, *keys = scores + kTile * ld, *values = keys + transposedFloats(head, head.keys);
  packTransposed(head, k, head.keys, keys);
  packColumns(head, v, head.keys, values);
  for (std::int64_t first = 0, last; first < head.queries; first = last) {
    last = tileEnd(first, head.queries);
    const std::int64_t rows = last - first, seen = seenBy(head, last - 1);
    float tops[kTile], sums[kTile], factors[kTile];
    multiply(rows, q + first * head.stride, head.stride, 1, keys, head.width, head.width, {scores, ld, up(seen, 8)});
    attendTile({rows, ld, seenBy(head, first), seen, head.scale}, scores, tops, sums);
    for (std::int64_t r = 0; r < rows; ++r) {
      factors[r] = 1 / sums[r];
      // No number where a score is none, or infinite: so is the sum then.
      statistics[first + r] = tops[r] + std::log(sums[r]);
    }
    multiply(rows, scores, ld, 1, values, head.keys, seen, {y + first * head.stride, head.stride, head.width, factors});
  }
}

void attentionTilesBackward(const AttentionHead& head, const float* q, const float* k, const float* v, const float* y,
                            const float* statistics, const float* dy, float* dq, float* dk, float* dv, float* scratch) {
  const std::int64_t ld = rowOf(head), block = blockOf(head), stride = head.stride, width = head.width;
  float *scores = scratch, *slopes = scores + block * ld, *keysDown = slopes + block * ld;
  float *values = keysDown + transposedFloats(head, head.keys), *keys = values + transposedFloats(head, head.keys);
  float *queries = keys + columnsFloats(head, head.keys), *given = queries + columnsFloats(head, head.queries);
  packTransposed(head, k, head.keys, keysDown);
  packTransposed(head, v, head.keys, values);
  packColumns(head, k, head.keys, keys);
  packColumns(head, q, head.queries, queries);
  packColumns(head, dy, head.queries, given);
  for (std::int64_t begin = 0, end; begin < head.queries; begin = end) {
    end = begin;
    for (std::int64_t first = begin, last; first < head.queries && first - begin + kTile <= block; first = last) {
      end = last = tileEnd(first, head.queries);
      const std::int64_t rows = last - first, seen = seenBy(head, last - 1), at = (first - begin) * ld;
      multiply(rows, q + first * stride, stride, 1, keysDown, width, width, {scores + at, ld, up(seen, 8)});
      multiply(rows, dy + first * stride, stride, 1, values, width, width, {slopes + at, ld, up(seen, 8)});
      slopesTile({rows, ld, seenBy(head, first), seen, head.scale}, scores + at, slopes + at, y + first * stride,
                 dy + first * stride, width, stride, statistics + first);
      multiply(rows, slopes + at, ld, 1, keys, head.keys, seen, {dq + first * stride, stride, width});
    }
    // What the block's queries add to the keys that they see.
    for (std::int64_t first = 0, last; first < head.keys; first = last) {
      last = tileEnd(first, head.keys);
      const std::int64_t from = head.causal ? std::max(begin, std::min(first, end)) : begin;
      const bool seenBefore = begin > 0 && !(head.causal && begin <= first);
      if (from == end && end < head.queries) continue;
      const std::int64_t at = (from - begin) * ld + first;
      multiply(last - first, scores + at, 1, ld, given + from * kColumns, head.queries, end - from,
               {dv + first * stride, stride, width, nullptr, seenBefore});
      multiply(last - first, slopes + at, 1, ld, queries + from * kColumns, head.queries, end - from,
               {dk + first * stride, stride, width, nullptr, seenBefore});
    }
  }
}

}  // namespace loom::cpu
