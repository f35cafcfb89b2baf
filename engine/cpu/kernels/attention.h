#pragma once
// One head of one sample: softmax(scale Q K^T) V without ever leaving the cache, and its gradient from the row
// statistics.
#include <cstdint>

#include "engine/cpu/kernels/stored.h"

namespace loom::cpu {

struct AttentionHead {
  std::int64_t queries, keys, width;  // width of the head
  std::int64_t stride;                // numbers from one row of q, k, v, y to the next
  bool causal;
  float scale;
  bool bf16 = false;  // of tensors in bf16: probabilities and their slopes are rounded, too, products summed in f32
};

// Floats of scratch a thread needs for either call.
std::int64_t attentionScratch(const AttentionHead& head);

// statistics: log-sum-exp of each query's row. All tensors are in the one type that the head says.
void attentionForward(const AttentionHead& head, Stored q, Stored k, Stored v, Stored y, float* statistics,
                      float* scratch);
void attentionBackward(const AttentionHead& head, Stored q, Stored k, Stored v, Stored y, const float* statistics,
                       Stored dy, Stored dq, Stored dk, Stored dv, float* scratch);

}  // namespace loom::cpu
