#include "engine/cpu/kernels/attention.h"

#include <algorithm>

#include "engine/cpu/kernels/bf16.h"
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
    const std::int64_t blockEnd = std::min(head.queries, (i / kRows + 1) * kRows);
    statistics[i] = logSumExp(row, seenBy(head, i));
    probabilities(head, i, blockEnd, statistics[i], row);
    if (head.bf16) roundToBf16(row, parts.halfScores + i * head.keys, seenBy(head, blockEnd - 1));
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
    const std::int64_t seen = seenBy(head, i);
    scaledProbabilities(p, statistics[i], 1, p, seen);
    slopeRow(p, ds, dotOf(dy.from(i * head.stride), y.from(i * head.stride), head.width), head.scale, seen);
  }
  clearUnseen(head, parts.scores);
  clearUnseen(head, parts.slopes);
  if (head.bf16) {
    roundToBf16(parts.scores, parts.halfScores, head.queries * head.keys);
    roundToBf16(parts.slopes, parts.halfSlopes, head.queries * head.keys);
  }
  combineTransposed(head, parts.scores, parts.halfScores, dy, parts, dv);
  combine(head, parts.slopes, parts.halfSlopes, k, parts, dq);
  combineTransposed(head, parts.slopes, parts.halfSlopes, q, parts, dk);
}

}  // namespace loom::cpu
