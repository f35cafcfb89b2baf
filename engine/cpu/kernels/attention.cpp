#include "engine/cpu/kernels/attention.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/kernels/gemm_bf16.h"
#include "engine/cpu/kernels/simd.h"
#include "engine/cpu/kernels/softmax.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kRows = 48;  // queries at a time: causal ones see keys up to their block's end only

std::int64_t seenBy(const AttentionHead& head, std::int64_t query) {
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

// p = e^(scale s - l) of one row in place, 0 for keys that the block computes but the query does not see.
void probabilities(const AttentionHead& head, std::int64_t query, std::int64_t blockEnd, float statistic, float* row) {
  const std::int64_t seen = seenBy(head, query);
  scaledProbabilities(row, statistic, 1, row, seen);
  std::fill(row + seen, row + std::max(seen, std::min(head.keys, seenBy(head, blockEnd - 1))), 0.0f);
}

// to (queries x width) = weights (queries x keys) matrix (keys x width), over the keys that are seen.
void combine(const AttentionHead& head, const float* weights, const std::uint16_t* half, Stored matrix,
             const Parts& parts, Stored to) {
  pack(head, viewOf(matrix, head.stride, 1), head.keys, head.width, parts);
  const std::int64_t panelSize = packedSize(head, head.keys, 1);
  for (std::int64_t first = 0; first < head.queries; first += kRows) {
    const std::int64_t last = std::min(head.queries, first + kRows), seen = seenBy(head, last - 1);
    // Panels hold all keys; a product over the first `seen` of them reads the head of each panel, so one panel at a
    // time.
    for (std::int64_t panel = 0; panel < panelsOf(head.width); ++panel) {
      const std::int64_t columns = std::min(panelWidth(), head.width - panel * panelWidth());
      multiplyInto(head,
                   {.m = head.queries,
                    .n = columns,
                    .k = seen,
                    .a = viewOf(weightsFrom(head, weights, half, 0), head.keys, 1),
                    .packed = parts.panels + panel * panelSize,
                    .ldc = head.stride},
                   to.from(panel * panelWidth()), first, last, parts);
    }
  }
}

// to (keys x width) = weights^T (keys x queries) matrix (queries x width). Unseen weights are 0.
void combineTransposed(const AttentionHead& head, const float* weights, const std::uint16_t* half, Stored matrix,
                       const Parts& parts, Stored to) {
  pack(head, viewOf(matrix, head.stride, 1), head.queries, head.width, parts);
  const std::int64_t panelSize = packedSize(head, head.queries, 1);
  for (std::int64_t first = 0; first < head.keys; first += kRows) {
    const std::int64_t last = std::min(head.keys, first + kRows);
    // Queries before the block see none of its keys.
    const std::int64_t skip = head.causal ? first : 0;
    for (std::int64_t panel = 0; panel < panelsOf(head.width); ++panel) {
      const std::int64_t columns = std::min(panelWidth(), head.width - panel * panelWidth());
      multiplyInto(head,
                   {.m = head.keys,
                    .n = columns,
                    .k = head.queries - skip,
                    .a = viewOf(weightsFrom(head, weights, half, skip), 1, head.keys),
                    .packed = parts.panels + panel * panelSize + packedSize(head, skip, 1),
                    .ldc = head.stride},
                   to.from(panel * panelWidth()), first, last, parts);
    }
  }
}

// The rows of a head in bf16: what an f32 head does in several calls, in one. Rows are read in whole vectors: what is
// not seen, whatever stands there, counts as 0 probability.
template <class F>
LOOM_INLINE float across(Vec v, F join) {
  v = join(v, __builtin_shuffle(v, VecI{8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7}));
  v = join(v, __builtin_shuffle(v, VecI{4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11}));
  v = join(v, __builtin_shuffle(v, VecI{2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13}));
  v = join(v, __builtin_shuffle(v, VecI{1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14}));
  return v[0];
}
LOOM_INLINE VecI lanesBelow(std::int64_t count) {
  const VecI lanes{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return lanes < static_cast<std::int32_t>(std::min(count, kLanes));
}

// The first `seen` of `row`, whose memory goes on to `length`, to probabilities, 0 behind them up to `length`.
LOOM_INLINE void attendRowBody(float* row, std::int64_t seen, std::int64_t length, float* statistic,
                               std::uint16_t* to) {
  const Vec none = splat(-__builtin_inff());
  Vec best = none, total{};
  for (std::int64_t i = 0; i < seen; i += kLanes)
    best = max(best, lanesBelow(seen - i) ? loadSome(row + i, length - i) : none);
  const float top = across(
      best, [](Vec a, Vec b) __attribute__((always_inline)) { return max(a, b); });
  for (std::int64_t i = 0; i < seen; i += kLanes) {
    const Vec e = where(lanesBelow(seen - i), exp(loadSome(row + i, length - i) - top));
    total += e;
    storeSome(row + i, e, length - i);
  }
  const float sum = across(
      total, [](Vec a, Vec b) __attribute__((always_inline)) { return a + b; });
  *statistic = top + std::log(sum);  // no number where a score is none, or infinite: so is the sum then
  for (std::int64_t i = 0; i < length; i += kLanes)
    storeHalf(to + i, i < seen ? loadSome(row + i, length - i) * (1 / sum) : Vec{}, length - i);
}

// p = e^(s - l) and ds = p (dp - d) scale, rounded; 0 for keys from `seen` to `length`.
LOOM_INLINE void slopesRowBody(const float* s, const float* dp, float statistic, float d, float scale,
                               std::int64_t seen, std::int64_t length, std::uint16_t* p16, std::uint16_t* ds16) {
  for (std::int64_t i = 0; i < length; i += kLanes) {
    const std::int64_t left = length - i;
    Vec p{}, ds{};
    if (i < seen) {
      const VecI inside = lanesBelow(seen - i);
      p = where(inside, exp(loadSome(s + i, left) - statistic));
      ds = where(inside, p * (loadSome(dp + i, left) - d) * scale);
    }
    storeHalf(p16 + i, p, left);
    storeHalf(ds16 + i, ds, left);
  }
}
LOOM_CPU_KERNEL(void, attendRow,
                (float* row, std::int64_t seen, std::int64_t length, float* statistic, std::uint16_t* to),
                (row, seen, length, statistic, to))
LOOM_CPU_KERNEL(void, slopesRow,
                (const float* s, const float* dp, float statistic, float d, float scale, std::int64_t seen,
                 std::int64_t length, std::uint16_t* p16, std::uint16_t* ds16),
                (s, dp, statistic, d, scale, seen, length, p16, ds16))

LOOM_INLINE float dotOfBody(Stored a, Stored b, std::int64_t count) {
  Vec total{};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) total += loadSome(a, i, kLanes) * loadSome(b, i, kLanes);
  float rest = 0;
  for (; i < count; ++i) rest += numberAt(a, i) * numberAt(b, i);
  return sum(total) + rest;
}
// ds = p (dp - d) scale
LOOM_INLINE void slopeRowBody(const float* p, float* dp, float d, float scale, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(dp + i, load(p + i) * (load(dp + i) - d) * scale);
  for (; i < count; ++i) dp[i] = p[i] * (dp[i] - d) * scale;
}
LOOM_CPU_KERNEL(float, dotOf, (Stored a, Stored b, std::int64_t count), (a, b, count))
LOOM_CPU_KERNEL(void, slopeRow, (const float* p, float* dp, float d, float scale, std::int64_t count),
                (p, dp, d, scale, count))

void clearUnseen(const AttentionHead& head, float* weights) {
  if (!head.causal) return;
  for (std::int64_t i = 0; i < head.queries; ++i)
    std::fill(weights + i * head.keys + i + 1, weights + (i + 1) * head.keys, 0.0f);
}

}  // namespace

std::int64_t attentionScratch(const AttentionHead& head) {
  const std::int64_t pairs = head.queries * head.keys;
  return (panelFloats(head) + (head.bf16 ? 3 : 2) * pairs + 1 + gemmScratch() + 15) / 16 * 16;
}

void attentionForward(const AttentionHead& head, Stored q, Stored k, Stored v, Stored y, float* statistics,
                      float* scratch) {
  const Parts parts = partsOf(head, scratch);
  scoresOf(head, q, k, head.scale, parts, parts.scores);
  for (std::int64_t i = 0; i < head.queries; ++i) {
    float* row = parts.scores + i * head.keys;
    if (head.bf16) {
      attendRow(row, seenBy(head, i), head.keys, statistics + i, parts.halfScores + i * head.keys);
      continue;
    }
    statistics[i] = logSumExp(row, seenBy(head, i));
    probabilities(head, i, std::min(head.queries, (i / kRows + 1) * kRows), statistics[i], row);
  }
  combine(head, parts.scores, parts.halfScores, v, parts, y);
}

void attentionBackward(const AttentionHead& head, Stored q, Stored k, Stored v, Stored y, const float* statistics,
                       Stored dy, Stored dq, Stored dk, Stored dv, float* scratch) {
  const Parts parts = partsOf(head, scratch);
  scoresOf(head, q, k, head.scale, parts, parts.scores);
  scoresOf(head, dy, v, 1, parts, parts.slopes);
  for (std::int64_t i = 0; i < head.queries; ++i) {
    float *p = parts.scores + i * head.keys, *ds = parts.slopes + i * head.keys;
    const std::int64_t seen = seenBy(head, i), at = i * head.keys;
    const float d = dotOf(dy.from(i * head.stride), y.from(i * head.stride), head.width);
    if (head.bf16) {
      slopesRow(p, ds, statistics[i], d, head.scale, seen, head.keys, parts.halfScores + at, parts.halfSlopes + at);
      continue;
    }
    scaledProbabilities(p, statistics[i], 1, p, seen);
    slopeRow(p, ds, d, head.scale, seen);
  }
  if (!head.bf16) {
    clearUnseen(head, parts.scores);
    clearUnseen(head, parts.slopes);
  }
  combineTransposed(head, parts.scores, parts.halfScores, dy, parts, dv);
  combine(head, parts.slopes, parts.halfSlopes, k, parts, dq);
  combineTransposed(head, parts.slopes, parts.halfSlopes, q, parts, dk);
}

}  // namespace loom::cpu
