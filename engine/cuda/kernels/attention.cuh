// Between the products of an attention: softmax over the keys that a query sees, and its gradient. A warp a row, which
// reads its scores twice: the second time from the cache.
#include "engine/cuda/kernels/attention.h"
#include "engine/cuda/kernels/language.h"
#include "engine/cuda/kernels/reduce_block.cuh"

namespace loom::cuda {

template <class T>
__global__ void __launch_bounds__(256) attentionSoftmax(AttentionSoftmaxArguments a) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  T* const probabilities = static_cast<T*>(a.probabilities);
  for (std::int64_t row = firstOfThread() / 32; row < a.rows; row += threadsOfGrid() / 32) {
    const float* const s = a.scores + row * a.keys;
    T* const p = probabilities + row * a.keys;
    const std::int64_t seen = a.causal ? row % a.queries + 1 : a.keys;
    // Highest and sum in one pass: what was summed is scaled down whenever a higher one is met.
    float highest = -INFINITY, sum = 0;
    for (std::int64_t j = lane; j < seen; j += 32) {
      const float one = a.scale * s[j];
      if (one > highest) {
        sum *= expf(highest - one);
        highest = one;
      }
      sum += one == highest ? 1.0f : expf(one - highest);
    }
    const float all = warpMax(highest);
    sum = warpSum(highest == all ? sum : sum * expf(highest - all));
    const float logSum = all + logf(sum);
    if (lane == 0) a.statistics[row] = logSum;
    for (std::int64_t j = lane; j < a.keys; j += 32)
      p[j] = fromFloat<T>(j < seen ? expf(a.scale * s[j] - logSum) : 0.0f);
  }
}

template <class T>
__global__ void __launch_bounds__(256) attentionSlopes(AttentionSlopeArguments a) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (std::int64_t row = firstOfThread() / 32; row < a.rows; row += threadsOfGrid() / 32) {
    const T* const y = static_cast<const T*>(a.y) + row * a.width;
    const T* const dy = static_cast<const T*>(a.dy) + row * a.width;
    float dot = 0;
    for (std::int64_t c = lane; c < a.width; c += 32) dot += toFloat(y[c]) * toFloat(dy[c]);
    dot = warpSum(dot);
    const float logSum = a.statistics[row];
    const std::int64_t seen = a.causal ? row % a.queries + 1 : a.keys, at = row * a.keys;
    for (std::int64_t j = at + lane; j < at + a.keys; j += 32) {
      const float p = j < at + seen ? expf(a.scale * a.scores[j] - logSum) : 0.0f;
      const float ds = j < at + seen ? p * (a.dp[j] - dot) * a.scale : 0.0f;
      static_cast<T*>(a.probabilities)[j] = fromFloat<T>(p);
      static_cast<T*>(a.slopes)[j] = fromFloat<T>(ds);
    }
  }
}

LOOM_KERNELS(attention, LOOM_KERNEL("attention_softmax", attentionSoftmax, AttentionSoftmaxArguments),
             LOOM_KERNEL("attention_slopes", attentionSlopes, AttentionSlopeArguments))

}  // namespace loom::cuda
