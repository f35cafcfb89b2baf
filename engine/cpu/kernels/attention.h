#pragma once
// One head of one sample: softmax(scale Q K^T) V without ever leaving the cache, and its gradient from the row
// statistics.
#include <cstdint>

namespace loom::cpu {

struct AttentionHead {
  std::int64_t queries, keys, width;  // width of the head
  std::int64_t stride;                // floats from one row of q, k, v, y to the next
  bool causal;
  float scale;
};

// Floats of scratch a thread needs for either call.
std::int64_t attentionScratch(const AttentionHead& head);

// statistics: log-sum-exp of each query's row.
void attentionForward(const AttentionHead& head, const float* q, const float* k, const float* v, float* y,
                      float* statistics, float* scratch);
void attentionBackward(const AttentionHead& head, const float* q, const float* k, const float* v, const float* y,
                       const float* statistics, const float* dy, float* dq, float* dk, float* dv, float* scratch);

}  // namespace loom::cpu
