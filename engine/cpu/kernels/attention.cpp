#include "engine/cpu/kernels/attention.h"

#include <algorithm>

#include "engine/cpu/kernels/gemm.h"
#include "engine/cpu/kernels/simd.h"
#include "engine/cpu/kernels/softmax.h"

namespace loom::cpu {
namespace {

constexpr std::int64_t kRows = 48;  // queries at a time: causal ones see keys up to their block's end only

std::int64_t seenBy(const AttentionHead& head, std::int64_t query) {
  return head.causal ? query + 1 : head.keys;
}

// Parts of a thread's scratch.
struct Parts {
  float *panels, *scores, *slopes, *gemmRows;
};
std::int64_t panelFloats(const AttentionHead& head) {
  return std::max({packedFloats(head.width, head.keys), packedFloats(head.keys, head.width),
                   packedFloats(head.queries, head.width)});
}
Parts partsOf(const AttentionHead& head, float* scratch) {
  Parts parts;
  parts.panels = scratch;
  parts.scores = parts.panels + panelFloats(head);
  parts.slopes = parts.scores + head.queries * head.keys;
  parts.gemmRows = parts.slopes + head.queries * head.keys;
  return parts;
}

// to (queries x keys) = scale * rows(from) matrix(against)^T, as far as keys are seen.
void scoresOf(const AttentionHead& head, const float* from, const float* against, float scale, const Parts& parts,
              float* to) {
  packPanels(parts.panels, {against, 1, head.stride}, head.width, head.keys, 0, panelsOf(head.keys));
  for (std::int64_t first = 0; first < head.queries; first += kRows) {
    const std::int64_t last = std::min(head.queries, first + kRows);
    gemm({.m = head.queries,
          .n = head.keys,
          .k = head.width,
          .a = {from, head.stride, 1},
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
void combine(const AttentionHead& head, const float* weights, const float* matrix, const Parts& parts, float* to) {
  packPanels(parts.panels, {matrix, head.stride, 1}, head.keys, head.width, 0, panelsOf(head.width));
  for (std::int64_t first = 0; first < head.queries; first += kRows) {
    const std::int64_t last = std::min(head.queries, first + kRows), seen = seenBy(head, last - 1);
    // Panels hold all keys; a product over the first `seen` of them reads the head of each panel, so one panel at a
    // time.
    for (std::int64_t panel = 0; panel < panelsOf(head.width); ++panel) {
      const std::int64_t columns = std::min(panelWidth(), head.width - panel * panelWidth());
      gemm({.m = head.queries,
            .n = columns,
            .k = seen,
            .a = {weights, head.keys, 1},
            .packed = parts.panels + panel * head.keys * panelWidth(),
            .c = to + panel * panelWidth(),
            .ldc = head.stride},
           first, last, 0, 1, parts.gemmRows);
    }
  }
}

// to (keys x width) = weights^T (keys x queries) matrix (queries x width). Unseen weights are 0.
void combineTransposed(const AttentionHead& head, const float* weights, const float* matrix, const Parts& parts,
                       float* to) {
  packPanels(parts.panels, {matrix, head.stride, 1}, head.queries, head.width, 0, panelsOf(head.width));
  for (std::int64_t first = 0; first < head.keys; first += kRows) {
    const std::int64_t last = std::min(head.keys, first + kRows);
    // Queries before the block see none of its keys.
    const std::int64_t skip = head.causal ? first : 0;
    for (std::int64_t panel = 0; panel < panelsOf(head.width); ++panel) {
      const std::int64_t columns = std::min(panelWidth(), head.width - panel * panelWidth());
      gemm({.m = head.keys,
            .n = columns,
            .k = head.queries - skip,
            .a = {weights + skip * head.keys, 1, head.keys},
            .packed = parts.panels + (panel * head.queries + skip) * panelWidth(),
            .c = to + panel * panelWidth(),
            .ldc = head.stride},
           first, last, 0, 1, parts.gemmRows);
    }
  }
}

LOOM_INLINE float dotOfBody(const float* a, const float* b, std::int64_t count) {
  Vec total{};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) total += load(a + i) * load(b + i);
  float rest = 0;
  for (; i < count; ++i) rest += a[i] * b[i];
  return sum(total) + rest;
}
// ds = p (dp - d) scale
LOOM_INLINE void slopeRowBody(const float* p, float* dp, float d, float scale, std::int64_t count) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) store(dp + i, load(p + i) * (load(dp + i) - d) * scale);
  for (; i < count; ++i) dp[i] = p[i] * (dp[i] - d) * scale;
}
LOOM_CPU_KERNEL(float, dotOf, (const float* a, const float* b, std::int64_t count), (a, b, count))
LOOM_CPU_KERNEL(void, slopeRow, (const float* p, float* dp, float d, float scale, std::int64_t count),
                (p, dp, d, scale, count))

void clearUnseen(const AttentionHead& head, float* weights) {
  if (!head.causal) return;
  for (std::int64_t i = 0; i < head.queries; ++i)
    std::fill(weights + i * head.keys + i + 1, weights + (i + 1) * head.keys, 0.0f);
}

}  // namespace

std::int64_t attentionScratch(const AttentionHead& head) {
  return (panelFloats(head) + 2 * head.queries * head.keys + gemmScratch() + 15) / 16 * 16;
}

void attentionForward(const AttentionHead& head, const float* q, const float* k, const float* v, float* y,
                      float* statistics, float* scratch) {
  const Parts parts = partsOf(head, scratch);
  scoresOf(head, q, k, head.scale, parts, parts.scores);
  for (std::int64_t i = 0; i < head.queries; ++i) {
    float* row = parts.scores + i * head.keys;
    statistics[i] = logSumExp(row, seenBy(head, i));
    probabilities(head, i, std::min(head.queries, (i / kRows + 1) * kRows), statistics[i], row);
  }
  combine(head, parts.scores, v, parts, y);
}

void attentionBackward(const AttentionHead& head, const float* q, const float* k, const float* v, const float* y,
                       const float* statistics, const float* dy, float* dq, float* dk, float* dv, float* scratch) {
  const Parts parts = partsOf(head, scratch);
  scoresOf(head, q, k, head.scale, parts, parts.scores);
  scoresOf(head, dy, v, 1, parts, parts.slopes);
  for (std::int64_t i = 0; i < head.queries; ++i) {
    float *p = parts.scores + i * head.keys, *ds = parts.slopes + i * head.keys;
    const std::int64_t seen = seenBy(head, i);
    scaledProbabilities(p, statistics[i], 1, p, seen);
    slopeRow(p, ds, dotOf(dy + i * head.stride, y + i * head.stride, head.width), head.scale, seen);
  }
  clearUnseen(head, parts.scores);
  clearUnseen(head, parts.slopes);
  combineTransposed(head, parts.scores, dy, parts, dv);
  combine(head, parts.slopes, k, parts, dq);
  combineTransposed(head, parts.slopes, q, parts, dk);
}

}  // namespace loom::cpu
