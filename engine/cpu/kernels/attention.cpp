#include "engine/cpu/kernels/attention.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/kernels/attention_pairs.h"
#include "engine/cpu/kernels/attention_tiles.h"
#include "engine/cpu/kernels/gemm_bf16.h"
#include "engine/cpu/kernels/native.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kRows = 48;  // queries at a time: causal ones see keys up to their block's end only

LOOM_INLINE std::int64_t seenBy(const AttentionHead& head, std::int64_t query) {
  return head.causal ? query + 1 : head.keys;
}

std::int64_t packedSize(const AttentionHead& head, std::int64_t k, std::int64_t columns) {
  return head.bf16 ? packedFloatsBf16(k, columns) : packedFloats(k, columns);
}

// Parts of a thread's scratch.
struct Parts {
  float *panels, *scores, *slopes, *gemmRows;
  std::uint16_t *halfScores, *halfSlopes;  // of a head in bf16
};
std::int64_t panelFloats(const AttentionHead& head) {
  return std::max({packedSize(head, head.width, head.keys), packedSize(head, head.keys, head.width),
                   packedSize(head, head.queries, head.width)});
}
Parts partsOf(const AttentionHead& head, float* scratch) {
  const std::int64_t pairs = head.queries * head.keys;
  Parts parts;
  parts.panels = scratch;
  parts.scores = parts.panels + panelFloats(head);
  parts.slopes = parts.scores + pairs;
  parts.gemmRows = parts.slopes + pairs;
  parts.halfScores = reinterpret_cast<std::uint16_t*>(parts.gemmRows + gemmScratch());
  parts.halfSlopes = parts.halfScores + (pairs + 1) / 2 * 2;
  return parts;
}

float* wideAt(const Stored& tensor) {
  return reinterpret_cast<float*>(tensor.at);
}
std::uint16_t* halfAt(const Stored& tensor) {
  return reinterpret_cast<std::uint16_t*>(tensor.at);
}

MatrixView viewOf(Stored at, std::int64_t rowStride, std::int64_t columnStride) {
  if (at.bf16) return {nullptr, rowStride, columnStride, reinterpret_cast<const std::uint16_t*>(at.at)};
  return {reinterpret_cast<const float*>(at.at), rowStride, columnStride};
}
// Weights (queries x keys) from this query on, as products read them.
Stored weightsFrom(const AttentionHead& head, const float* weights, const std::uint16_t* half, std::int64_t query) {
  const Stored all =
      head.bf16 ? Stored{reinterpret_cast<std::byte*>(const_cast<std::uint16_t*>(half)), true} : inF32(weights);
  return all.from(query * head.keys);
}

void pack(const AttentionHead& head, const MatrixView& b, std::int64_t k, std::int64_t n, const Parts& parts) {
  (head.bf16 ? packPanelsBf16 : packPanels)(parts.panels, b, k, n, 0, panelsOf(n));
}

// Rows [first, last) of a product whose C is a tensor.
void multiplyInto(const AttentionHead& head, GemmProblem problem, Stored to, std::int64_t first, std::int64_t last,
                  const Parts& parts) {
  if (to.bf16)
    problem.half = reinterpret_cast<std::uint16_t*>(to.at);
  else
    problem.c = reinterpret_cast<float*>(to.at);
  (head.bf16 ? gemmBf16 : gemm)(problem, first, last, 0, panelsOf(problem.n), parts.gemmRows);
}

// to (queries x keys) = scale * rows(from) matrix(against)^T, as far as keys are seen.
void scoresOf(const AttentionHead& head, Stored from, Stored against, float scale, const Parts& parts, float* to) {
  pack(head, viewOf(against, 1, head.stride), head.width, head.keys, parts);
  for (std::int64_t first = 0; first < head.queries; first += kRows) {
    const std::int64_t last = std::min(head.queries, first + kRows);
    (head.bf16 ? gemmBf16 : gemm)({.m = head.queries,
                                   .n = head.keys,
                                   .k = head.width,
                                   .a = viewOf(from, head.stride, 1),
                                   .packed = parts.panels,
                                   .c = to,
                                   .ldc = head.keys,
                                   .scale = scale},
                                  first, last, 0, panelsOf(seenBy(head, last - 1)), parts.gemmRows);
  }
}

// How much of a row products read: causal ones the keys up to the end of the query's block, which are 0 where the query
// does not see them.
LOOM_INLINE std::int64_t readOf(const AttentionHead& head, std::int64_t query) {
  return head.causal ? std::min(head.keys, (query / kRows + 1) * kRows) : head.keys;
}

// Panels that a product over a part of K reads at once: gemm() alone takes panels that hold more than it multiplies.
std::int64_t panelsTogether(const AttentionHead& head) {
  return head.bf16 ? 1 : panelsOf(head.width);
}

// to (queries x width) = weights (queries x keys) matrix (keys x width), over the keys that are seen.
void combine(const AttentionHead& head, const float* weights, const std::uint16_t* half, Stored matrix,
             const Parts& parts, Stored to) {
  pack(head, viewOf(matrix, head.stride, 1), head.keys, head.width, parts);
  const std::int64_t panelSize = packedSize(head, head.keys, 1), together = panelsTogether(head);
  for (std::int64_t first = 0; first < head.queries; first += kRows) {
    const std::int64_t last = std::min(head.queries, first + kRows), seen = seenBy(head, last - 1);
    // Panels hold all keys; a product over the first `seen` of them reads the head of each panel.
    for (std::int64_t panel = 0; panel < panelsOf(head.width); panel += together) {
      const std::int64_t columns = std::min(together * panelWidth(), head.width - panel * panelWidth());
      multiplyInto(head,
                   {.m = head.queries,
                    .n = columns,
                    .k = seen,
                    .a = viewOf(weightsFrom(head, weights, half, 0), head.keys, 1),
                    .packed = parts.panels + panel * panelSize,
                    .panelSteps = head.keys,
                    .ldc = head.stride},
                   to.from(panel * panelWidth()), first, last, parts);
    }
  }
}

// to (keys x width) = weights^T (keys x queries) matrix (queries x width). Unseen weights are 0.
void combineTransposed(const AttentionHead& head, const float* weights, const std::uint16_t* half, Stored matrix,
                       const Parts& parts, Stored to) {
  pack(head, viewOf(matrix, head.stride, 1), head.queries, head.width, parts);
  const std::int64_t panelSize = packedSize(head, head.queries, 1), together = panelsTogether(head);
  for (std::int64_t first = 0; first < head.keys; first += kRows) {
    const std::int64_t last = std::min(head.keys, first + kRows);
    // Queries before the block see none of its keys.
    const std::int64_t skip = head.causal ? first : 0;
    for (std::int64_t panel = 0; panel < panelsOf(head.width); panel += together) {
      const std::int64_t columns = std::min(together * panelWidth(), head.width - panel * panelWidth());
      multiplyInto(head,
                   {.m = head.keys,
                    .n = columns,
                    .k = head.queries - skip,
                    .a = viewOf(weightsFrom(head, weights, half, skip), 1, head.keys),
                    .packed = parts.panels + panel * panelSize + packedSize(head, skip, 1),
                    .panelSteps = head.queries,
                    .ldc = head.stride},
                   to.from(panel * panelWidth()), first, last, parts);
    }
  }
}

// The first `count` lanes of V.
template <class V>
LOOM_INLINE auto lanesBelow(std::int64_t count) {
  const auto bound = static_cast<std::int32_t>(std::min(count, kLanes));
  if constexpr (std::is_same_v<V, Two>) {
    return TwoI{Vec8I{0, 1, 2, 3, 4, 5, 6, 7} < bound, Vec8I{8, 9, 10, 11, 12, 13, 14, 15} < bound};
  } else {
    const VecI lanes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return lanes < bound;
  }
}

// Scores to probabilities: in place, or to `half` where that is not null. Rows are read in whole vectors: what is not
// seen, whatever stands there, counts as 0 probability.
template <Level kNative>
LOOM_INLINE void attendRowsBody(const AttentionHead& head, float* scores, std::uint16_t* half, float* statistics) {
  typedef VecFor<kNative> V;
  const V none = splatOfAll<V>(-__builtin_inff());
  for (std::int64_t i = 0; i < head.queries; ++i) {
    float* row = scores + i * head.keys;
    const std::int64_t seen = seenBy(head, i), length = readOf(head, i), whole = seen / kLanes * kLanes;
    V best = none, total{};
    for (std::int64_t j = 0; j < whole; j += kLanes) best = max(best, loadOf<V>(row + j));
    if (whole < seen)
      best = max(best, choose(lanesBelow<V>(seen - whole), loadSomeOf<V>(row + whole, head.keys - whole), none));
    const float top = maximum(best);
    for (std::int64_t j = 0; j < whole; j += kLanes) {
      const V e = expAs<kNative>(loadOf<V>(row + j) - top);
      total += e;
      store(row + j, e);
    }
    if (whole < seen) {
      const V e =
          where(lanesBelow<V>(seen - whole), expAs<kNative>(loadSomeOf<V>(row + whole, head.keys - whole) - top));
      total += e;
      storeSome(row + whole, e, length - whole);
    }
    const float all = sum(total), factor = 1 / all;
    statistics[i] = top + std::log(all);  // no number where a score is none, or infinite: so is the sum then
    std::int64_t j = 0;
    for (; j < seen && j + kLanes <= length; j += kLanes) {
      const V p = loadOf<V>(row + j) * factor;
      half != nullptr ? storeHalfAs<kNative>(half + i * head.keys + j, p, kLanes) : store(row + j, p);
    }
    for (; j < length; j += kLanes) {
      const std::int64_t n = std::min(kLanes, length - j);
      const V p = j < seen ? loadSomeOf<V>(row + j, n) * factor : V{};
      half != nullptr ? storeHalfAs<kNative>(half + i * head.keys + j, p, n) : storeSome(row + j, p, n);
    }
  }
}

template <Level kNative>
LOOM_INLINE float dotOf(Stored a, Stored b, std::int64_t count) {
  VecFor<kNative> total{};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) total += loadFor<kNative>(a, i, kLanes) * loadFor<kNative>(b, i, kLanes);
  float rest = 0;
  for (; i < count; ++i) rest += numberAt(a, i) * numberAt(b, i);
  return sum(total) + rest;
}

struct Weights {
  float* scores;  // to p = e^(s - l)
  float* slopes;  // dp to ds = p (dp - dy y) scale
  std::uint16_t *halfScores, *halfSlopes;
};
template <Level kNative, bool kHalf>
LOOM_INLINE void putWeights(const Weights& to, std::int64_t at, VecFor<kNative> p, VecFor<kNative> ds, std::int64_t n) {
  if constexpr (kHalf) {
    storeHalfAs<kNative>(to.halfScores + at, p, n);
    storeHalfAs<kNative>(to.halfSlopes + at, ds, n);
  } else {
    storeSome(to.scores + at, p, n);
    storeSome(to.slopes + at, ds, n);
  }
}
// In place, or to the halves: what a head in bf16 multiplies.
template <Level kNative, bool kHalf>
LOOM_INLINE void slopesRowsOf(const AttentionHead& head, const Weights& to, Stored y, Stored dy,
                              const float* statistics) {
  typedef VecFor<kNative> V;
  for (std::int64_t i = 0; i < head.queries; ++i) {
    const std::int64_t seen = seenBy(head, i), length = readOf(head, i), at = i * head.keys;
    const float d = dotOf<kNative>({dy.from(i * head.stride).at, kHalf}, {y.from(i * head.stride).at, kHalf},
                                   head.width),
                statistic = statistics[i];
    std::int64_t j = 0;
    for (; j + kLanes <= seen; j += kLanes) {
      const V p = expAs<kNative>(loadOf<V>(to.scores + at + j) - statistic);
      putWeights<kNative, kHalf>(to, at + j, p, p * (loadOf<V>(to.slopes + at + j) - d) * head.scale, kLanes);
    }
    for (; j < length; j += kLanes) {
      const std::int64_t n = std::min(kLanes, length - j);
      V p{}, ds{};
      if (j < seen) {
        const auto inside = lanesBelow<V>(seen - j);
        p = where(inside, expAs<kNative>(loadSomeOf<V>(to.scores + at + j, n) - statistic));
        ds = where(inside, p * (loadSomeOf<V>(to.slopes + at + j, n) - d) * head.scale);
      }
      putWeights<kNative, kHalf>(to, at + j, p, ds, n);
    }
  }
}
template <Level kNative>
LOOM_INLINE void slopesRowsBody(const AttentionHead& head, const Weights& to, Stored y, Stored dy,
                                const float* statistics) {
  if (head.bf16)
    slopesRowsOf<kNative, true>(head, to, y, dy, statistics);
  else
    slopesRowsOf<kNative, false>(head, to, y, dy, statistics);
}

LOOM_CPU_KERNEL_NATIVE(void, attendRows,
                       (const AttentionHead& head, float* scores, std::uint16_t* half, float* statistics),
                       (head, scores, half, statistics))
LOOM_CPU_KERNEL_NATIVE(void, slopesRows,
                       (const AttentionHead& head, const Weights& to, Stored y, Stored dy, const float* statistics),
                       (head, to, y, dy, statistics))

}  // namespace

std::int64_t attentionScratch(const AttentionHead& head) {
  if (attendsInTiles(head)) return attentionTilesScratch(head);
  if (attendsInPairs(head)) return attentionPairsScratch(head);
  const std::int64_t pairs = head.queries * head.keys;
  return (panelFloats(head) + (head.bf16 ? 3 : 2) * pairs + 1 + gemmScratch() + 15) / 16 * 16;
}

void attentionForward(const AttentionHead& head, Stored q, Stored k, Stored v, Stored y, float* statistics,
                      float* scratch) {
  if (attendsInTiles(head))
    return attentionTilesForward(head, wideAt(q), wideAt(k), wideAt(v), wideAt(y), statistics, scratch);
  if (attendsInPairs(head))
    return attentionPairsForward(head, halfAt(q), halfAt(k), halfAt(v), halfAt(y), statistics, scratch);
  const Parts parts = partsOf(head, scratch);
  scoresOf(head, q, k, head.scale, parts, parts.scores);
  attendRows(head, parts.scores, head.bf16 ? parts.halfScores : nullptr, statistics);
  combine(head, parts.scores, parts.halfScores, v, parts, y);
}

void attentionBackward(const AttentionHead& head, Stored q, Stored k, Stored v, Stored y, const float* statistics,
                       Stored dy, Stored dq, Stored dk, Stored dv, float* scratch) {
  if (attendsInTiles(head)) {
    return attentionTilesBackward(head, wideAt(q), wideAt(k), wideAt(v), wideAt(y), statistics, wideAt(dy), wideAt(dq),
                                  wideAt(dk), wideAt(dv), scratch);
  }
  if (attendsInPairs(head)) {
    return attentionPairsBackward(head, halfAt(q), halfAt(k), halfAt(v), halfAt(y), statistics, halfAt(dy), halfAt(dq),
                                  halfAt(dk), halfAt(dv), scratch);
  }
  const Parts parts = partsOf(head, scratch);
  scoresOf(head, q, k, head.scale, parts, parts.scores);
  scoresOf(head, dy, v, 1, parts, parts.slopes);
  slopesRows(head, {parts.scores, parts.slopes, parts.halfScores, parts.halfSlopes}, y, dy, statistics);
  combineTransposed(head, parts.scores, parts.halfScores, dy, parts, dv);
  combine(head, parts.slopes, parts.halfSlopes, k, parts, dq);
  combineTransposed(head, parts.slopes, parts.halfSlopes, q, parts, dk);
}

}  // namespace loom::cpu
