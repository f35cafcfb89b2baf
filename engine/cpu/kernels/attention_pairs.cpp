#include "engine/cpu/kernels/attention_pairs.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/cpu/kernels/bf16.h"
#include "engine/cpu/kernels/gemm_amx.h"
#include "engine/cpu/kernels/gemm_bf16.h"
#include "engine/cpu/kernels/gemm_pairs.h"
#include "engine/cpu/kernels/native.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kTile = 8;           // queries, or keys, of a tile of sums
constexpr std::int64_t kPanel = 64;         // panelWidth() with AVX-512
constexpr std::int64_t kWeights = 3 << 14;  // of a block of queries: with their slopes, 192 KiB of level 2

std::int64_t up(std::int64_t count, std::int64_t to) {
  return (count + to - 1) / to * to;
}
std::int64_t pairsOf(std::int64_t steps) {
  return (steps + 1) / 2;
}
// Scores of a query, and words of two queries, from a row to the next. Not a multiple of 4 KiB: a column of them would
// have few places in level 1.
std::int64_t rowOf(const AttentionHead& head) {
  return up(head.keys, 2 * kLanes) + kLanes;
}
// Queries of which all weights are kept at once.
std::int64_t blockOf(const AttentionHead& head) {
  return std::max(4 * kTile, std::min(kWeights / rowOf(head) / kTile * kTile, up(head.queries, kTile)));
}
LOOM_INLINE std::int64_t seenBy(const AttentionHead& head, std::int64_t query) {
  return head.causal ? std::min(head.keys, query + 1) : head.keys;
}

// A thread's scratch, in floats.
struct Parts {
  std::int64_t floats = 0;
  std::int64_t scores = 0, slopes = 0, rows = 0, q = 0, dy = 0;                             // of a tile of queries
  std::int64_t keysDown = 0, valuesDown = 0, keys = 0, values = 0, queries = 0, given = 0;  // packed
  std::int64_t weightPairs = 0, slopePairs = 0, toK = 0, toV = 0;  // of a block, and sums over blocks

  std::int64_t take(std::int64_t count) {
    const std::int64_t at = floats;
    floats += up(count, kLanes);
    return at;
  }
};
Parts partsOf(const AttentionHead& head, bool backward) {
  Parts parts;
  const std::int64_t ld = rowOf(head);
  parts.scores = parts.take(kTile * ld);
  parts.rows = parts.take(kTile * ld / 2);
  parts.q = parts.take(kTile * head.width / 2);
  parts.keysDown = parts.take(packedFloatsBf16(head.width, head.keys));
  if (!backward) {
    parts.values = parts.take(packedFloatsBf16(head.keys, head.width));
    return parts;
  }
  parts.slopes = parts.take(kTile * ld);
  parts.dy = parts.take(kTile * head.width / 2);
  parts.valuesDown = parts.take(packedFloatsBf16(head.width, head.keys));
  parts.keys = parts.take(packedFloatsBf16(head.keys, head.width));
  parts.queries = parts.take(packedFloatsBf16(head.queries, head.width));
  parts.given = parts.take(packedFloatsBf16(head.queries, head.width));
  parts.weightPairs = parts.take(blockOf(head) / 2 * ld);
  parts.slopePairs = parts.take(blockOf(head) / 2 * ld);
  if (blockOf(head) < head.queries) {
    parts.toK = parts.take(head.keys * head.width);
    parts.toV = parts.take(head.keys * head.width);
  }
  return parts;
}

// Words of some rows, and how far it is from a row, and from a pair of steps, to the next.
struct Words {
  const Word* at;
  std::int64_t row, pair;
};
// Where sums go: `rows` of them, `ld` apart, `columns` each; times the row's factor; in f32, or rounded.
struct Place {
  float* sums;
  std::uint16_t* half;
  std::int64_t ld, rows, columns;
  const float* factors = nullptr;
  bool add = false;
};

template <int kVectors>
LOOM_INLINE void putTile(Vec (&sums)[kTile][kVectors], const Place& place, std::int64_t column) {
#pragma GCC unroll 8
  for (int r = 0; r < kTile; ++r) {
    if (r >= place.rows) return;
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      const std::int64_t at = r * place.ld + column + v * kLanes, count = place.columns - column - v * kLanes;
      if (count <= 0) break;
      Vec sum = sums[r][v];
      if (place.factors != nullptr) sum *= place.factors[r];
      if (place.half != nullptr) {
        storeHalfAs<true>(place.half + at, sum, count);
      } else {
        if (place.add) sum += loadSome(place.sums + at, count);
        storeSome(place.sums + at, sum, count);
      }
    }
  }
}
template <int kVectors>
LOOM_INLINE void computeTile(const Words& a, const Word* b, std::int64_t pairs, const Place& place,
                             std::int64_t column) {
  Vec sums[kTile][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kTile; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) sums[r][v] = Vec{};
  }
  multiplyPairs<TileNative, kTile, kVectors>(sums, a.at, a.row, a.pair, b, kPanel, pairs);
  putTile<kVectors>(sums, place, column);
}
// A tile's rows times all panels of packed B, each of which has `panelPairs`, the first `pairs` of them.
LOOM_TARGET_AVX512_BF16 void multiply(const Words& a, const float* packed, std::int64_t panelPairs, std::int64_t pairs,
                                      const Place& at) {
  const Place place = at;
  const Word* b = reinterpret_cast<const Word*>(packed);
  for (std::int64_t column = 0; column < place.columns; column += 2 * kLanes) {
    const Word* panel = b + column / kPanel * panelPairs * kPanel + column % kPanel;
    if (place.columns - column > kLanes)
      computeTile<2>(a, panel, pairs, place, column);
    else
      computeTile<1>(a, panel, pairs, place, column);
  }
}

// A tile of queries: rows `ld` apart, eight of them whatever the tile holds, so that they can be computed at once. The
// first sees `seen` keys, the last `end`; between are causal ones, each of which sees one more.
struct Rows {
  std::int64_t count, ld, seen, end;
  float scale;
};

// All bits of the first `count` lanes.
LOOM_INLINE Vec lanesBelow(std::int64_t count) {
  alignas(64) static const std::int32_t kMask[2 * kLanes] = {-1, -1, -1, -1, -1, -1, -1, -1,
                                                             -1, -1, -1, -1, -1, -1, -1, -1};
  return load(reinterpret_cast<const float*>(kMask) + kLanes - std::clamp<std::int64_t>(count, 0, kLanes));
}
LOOM_INLINE Vec kept(Vec mask, Vec v) {
  return (Vec)((VecI)mask & (VecI)v);
}
// a where it is the larger one, else b.
LOOM_INLINE Vec largerOf(Vec a, Vec b) {
  Vec larger;
  asm("vmaxps %2, %1, %0" : "=v"(larger) : "v"(a), "v"(b));
  return larger;
}
LOOM_INLINE Vec weightOf(Vec x) {
  return unlessNan<true>(x, boundedExp(bounded<true>(x, -87.336f, 88.722f)));
}
// Calls f(j, chosen) for sixteen keys at a time: those that all rows see, then those that some see, where
// chosen(r, v, otherwise) is v with `otherwise` for what row r does not see.
template <class F>
LOOM_INLINE void forKeys(const Rows& rows, F f) {
  std::int64_t j = 0;
  for (; j + kLanes <= rows.seen; j += kLanes)
    f(
        j, [](int, Vec v, Vec) __attribute__((always_inline)) { return v; });
  for (; j < rows.end; j += kLanes) {
    f(
        j, [&](int r, Vec v, Vec otherwise) __attribute__((always_inline)) {
          const Vec mask = lanesBelow(std::min(rows.seen + r, rows.end) - j);
          return (Vec)((VecI)kept(mask, v) | (~(VecI)mask & (VecI)otherwise));
        });
  }
}

// Unscaled scores to e^(scale (score - the row's largest)), rounded, and 0 as far as the last row sees; what the
// largest times the scale is, and the sums.
LOOM_TARGET_AVX512_BF16 void attendTile(const Rows& of, float* scores, std::uint16_t* weights, float* tops,
                                        float* sums) {
  const Rows rows = of;
  const Vec none = splat(-__builtin_inff());
  Vec best[kTile], total[kTile];
#pragma GCC unroll 8
  for (int r = 0; r < kTile; ++r) {
    best[r] = none;
    total[r] = Vec{};
  }
  forKeys(
      rows, [&](std::int64_t at, auto seen) __attribute__((always_inline)) {
#pragma GCC unroll 8
        for (int r = 0; r < kTile; ++r) best[r] = largerOf(best[r], seen(r, load(scores + r * rows.ld + at), none));
      });
#pragma GCC unroll 8
  for (int r = 0; r < kTile; ++r) tops[r] = rows.scale * maximum(best[r]);
  forKeys(
      rows, [&](std::int64_t at, auto seen) __attribute__((always_inline)) {
#pragma GCC unroll 8
        for (int r = 0; r < kTile; ++r) {
          const Vec e = seen(r, weightOf(load(scores + r * rows.ld + at) * rows.scale - tops[r]), Vec{});
          total[r] += e;
          storeHalfAs<true>(weights + r * rows.ld + at, e, kLanes);
        }
      });
#pragma GCC unroll 8
  for (int r = 0; r < kTile; ++r) sums[r] = sum(total[r]);
}

// Two rows, rounded: one behind the other.
typedef std::uint16_t Halves __attribute__((vector_size(64)));
LOOM_INLINE Halves roundedOf(Vec first, Vec second) {
  Halves both;
  asm("vcvtne2ps2bf16 %2, %1, %0" : "=v"(both) : "v"(second), "v"(first));
  return both;
}
// And as words of what stands below each other.
LOOM_INLINE Vec wordsOf(Halves both) {
  return (Vec)__builtin_shuffle(both, Halves{0, 16, 1, 17, 2,  18, 3,  19, 4,  20, 5,  21, 6,  22, 7,  23,
                                             8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31});
}
LOOM_INLINE float dotOf(const std::uint16_t* a, const std::uint16_t* b, std::int64_t count) {
  Vec total{};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) total += loadHalfAs<true>(a + i, kLanes) * loadHalfAs<true>(b + i, kLanes);
  float rest = 0;
  for (; i < count; ++i) rest += fromBf16(a[i]) * fromBf16(b[i]);
  return sum(total) + rest;
}

// What a tile's queries give: words of p and of ds, a row for two queries, and rows of ds.
struct Weights {
  float *pairs, *slopePairs;
  std::uint16_t* slopes;
};
// p = e^(scale score - statistic) of unscaled scores and ds = p (dp - dy y) scale; 0 as far as the last row sees.
LOOM_TARGET_AVX512_BF16 void slopesTile(const Rows& of, const float* scores, const float* slopes,
                                        const std::uint16_t* y, const std::uint16_t* dy, std::int64_t width,
                                        std::int64_t stride, const float* statistics, const Weights& to) {
  const Rows rows = of;
  const Weights places = to;
  float dots[kTile] = {}, statistic[kTile] = {};
  for (std::int64_t r = 0; r < rows.count; ++r) {
    dots[r] = dotOf(y + r * stride, dy + r * stride, width);
    statistic[r] = statistics[r];
  }
  forKeys(
      rows, [&](std::int64_t at, auto seen) __attribute__((always_inline)) {
#pragma GCC unroll 4
        for (int r = 0; r < kTile; r += 2) {
          const std::int64_t upper = r * rows.ld + at, lower = upper + rows.ld, pair = r / 2 * rows.ld + at;
          const Vec p = weightOf(load(scores + upper) * rows.scale - statistic[r]),
                    next = weightOf(load(scores + lower) * rows.scale - statistic[r + 1]);
          const Vec ds = p * ((load(slopes + upper) - dots[r]) * rows.scale),
                    nextDs = next * ((load(slopes + lower) - dots[r + 1]) * rows.scale);
          store(places.pairs + pair, wordsOf(roundedOf(seen(r, p, Vec{}), seen(r + 1, next, Vec{}))));
          const Halves both = roundedOf(seen(r, ds, Vec{}), seen(r + 1, nextDs, Vec{}));
          store(places.slopePairs + pair, wordsOf(both));
          alignas(64) std::uint16_t halves[2 * kLanes];
          std::memcpy(halves, &both, sizeof both);
          std::memcpy(places.slopes + upper, halves, sizeof both / 2);
          std::memcpy(places.slopes + lower, halves + kLanes, sizeof both / 2);
        }
      });
}

// Rows of `matrix` as panels of its columns, or transposed: panels of its rows.
void packColumns(const AttentionHead& head, const std::uint16_t* matrix, std::int64_t rows, float* to) {
  packPanelsBf16(to, {nullptr, head.stride, 1, matrix}, rows, head.width, 0, panelsOf(head.width));
}
void packTransposed(const AttentionHead& head, const std::uint16_t* matrix, float* to) {
  packPanelsBf16(to, {nullptr, 1, head.stride, matrix}, head.width, head.keys, 0, panelsOf(head.keys));
}
// A tile's rows where they stand, or, where they are fewer, a copy with as many as a tile has.
Words rowsFrom(const AttentionHead& head, const std::uint16_t* matrix, std::int64_t count, float* room) {
  if (count == kTile) return {reinterpret_cast<const Word*>(matrix), head.stride / 2, 1};
  auto* const to = reinterpret_cast<std::uint16_t*>(room);
  const auto bytes = static_cast<std::size_t>(head.width) * sizeof *to;
  std::memset(to, 0, kTile * bytes);
  for (std::int64_t r = 0; r < count; ++r) std::memcpy(to + r * head.width, matrix + r * head.stride, bytes);
  return {reinterpret_cast<const Word*>(to), head.width / 2, 1};
}

}  // namespace

bool attendsInPairs(const AttentionHead& head) {
  return head.bf16 && multipliesBf16() && !multipliesInTiles() && head.scale > 0 && head.width % 2 == 0 &&
         head.stride % 2 == 0;
}

std::int64_t attentionPairsScratch(const AttentionHead& head) {
  return partsOf(head, true).floats;
}

void attentionPairsForward(const AttentionHead& head, const std::uint16_t* q, const std::uint16_t* k,
                           const std::uint16_t* v, std::uint16_t* y, float* statistics, float* scratch) {
  const std::int64_t ld = rowOf(head), stride = head.stride;
  const Parts parts = partsOf(head, false);
  float *const scores = scratch + parts.scores, *const keys = scratch + parts.keysDown,
               *const values = scratch + parts.values;
  auto* const weights = reinterpret_cast<std::uint16_t*>(scratch + parts.rows);
  packTransposed(head, k, keys);
  packColumns(head, v, head.keys, values);
  for (std::int64_t first = 0; first < head.queries; first += kTile) {
    const std::int64_t rows = std::min(kTile, head.queries - first), seen = seenBy(head, first + rows - 1);
    float tops[kTile], sums[kTile], factors[kTile];
    multiply(rowsFrom(head, q + first * stride, rows, scratch + parts.q), keys, head.width / 2, head.width / 2,
             {scores, nullptr, ld, kTile, up(seen, kLanes)});
    attendTile({rows, ld, seenBy(head, first), seen, head.scale}, scores, weights, tops, sums);
    for (std::int64_t r = 0; r < rows; ++r) {
      factors[r] = 1 / sums[r];
      // No number where a score is none, or infinite: so is the sum then.
      statistics[first + r] = tops[r] + std::log(sums[r]);
    }
    multiply({reinterpret_cast<const Word*>(weights), ld / 2, 1}, values, pairsOf(head.keys), pairsOf(seen),
             {nullptr, y + first * stride, stride, rows, head.width, factors});
  }
}

void attentionPairsBackward(const AttentionHead& head, const std::uint16_t* q, const std::uint16_t* k,
                            const std::uint16_t* v, const std::uint16_t* y, const float* statistics,
                            const std::uint16_t* dy, std::uint16_t* dq, std::uint16_t* dk, std::uint16_t* dv,
                            float* scratch) {
  const std::int64_t ld = rowOf(head), block = blockOf(head), stride = head.stride, width = head.width;
  const Parts parts = partsOf(head, true);
  const auto at = [&](std::int64_t part) { return scratch + part; };
  auto* const slopeRows = reinterpret_cast<std::uint16_t*>(at(parts.rows));
  packTransposed(head, k, at(parts.keysDown));
  packTransposed(head, v, at(parts.valuesDown));
  packColumns(head, k, head.keys, at(parts.keys));
  packColumns(head, q, head.queries, at(parts.queries));
  packColumns(head, dy, head.queries, at(parts.given));
  const bool isWhole = block >= head.queries;  // what a key is given is rounded once, after all blocks
  if (!isWhole) {
    std::fill_n(at(parts.toK), head.keys * width, 0.0f);
    std::fill_n(at(parts.toV), head.keys * width, 0.0f);
  }
  for (std::int64_t begin = 0; begin < head.queries; begin += block) {
    const std::int64_t end = std::min(head.queries, begin + block);
    for (std::int64_t first = begin; first < end; first += kTile) {
      const std::int64_t rows = std::min(kTile, end - first), seen = seenBy(head, first + rows - 1),
                         pair = (first - begin) / 2 * ld;
      multiply(rowsFrom(head, q + first * stride, rows, at(parts.q)), at(parts.keysDown), width / 2, width / 2,
               {at(parts.scores), nullptr, ld, kTile, up(seen, kLanes)});
      multiply(rowsFrom(head, dy + first * stride, rows, at(parts.dy)), at(parts.valuesDown), width / 2, width / 2,
               {at(parts.slopes), nullptr, ld, kTile, up(seen, kLanes)});
      slopesTile({rows, ld, seenBy(head, first), seen, head.scale}, at(parts.scores), at(parts.slopes),
                 y + first * stride, dy + first * stride, width, stride, statistics + first,
                 {at(parts.weightPairs) + pair, at(parts.slopePairs) + pair, slopeRows});
      multiply({reinterpret_cast<const Word*>(slopeRows), ld / 2, 1}, at(parts.keys), pairsOf(head.keys), pairsOf(seen),
               {nullptr, dq + first * stride, stride, rows, width});
    }
    // What the block's queries add to the keys that they see.
    for (std::int64_t first = 0; first < head.keys; first += kTile) {
      const std::int64_t from = head.causal ? std::max(begin, std::min(first, end)) : begin;
      const std::int64_t rows = std::min(kTile, head.keys - first), pairs = from < end ? pairsOf(end - from) : 0;
      const auto give = [&](std::int64_t weights, std::int64_t matrix, std::int64_t sums, std::uint16_t* to) {
        multiply({reinterpret_cast<const Word*>(at(weights)) + (from - begin) / 2 * ld + first, 1, ld},
                 at(matrix) + from / 2 * kPanel, pairsOf(head.queries), pairs,
                 isWhole ? Place{nullptr, to + first * stride, stride, rows, width}
                         : Place{at(sums) + first * width, nullptr, width, rows, width, nullptr, true});
      };
      if (pairs == 0 && !isWhole) continue;
      give(parts.weightPairs, parts.given, parts.toV, dv);
      give(parts.slopePairs, parts.queries, parts.toK, dk);
    }
  }
  for (std::int64_t key = 0; key < head.keys && !isWhole; ++key) {
    roundToBf16(at(parts.toV) + key * width, dv + key * stride, width);
    roundToBf16(at(parts.toK) + key * width, dk + key * stride, width);
  }
}

}  // namespace loom::cpu
