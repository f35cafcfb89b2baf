// softmax_cross_entropy and its gradient, top_k_accuracy.
#include "engine/cuda/kernels/classification.h"
#include "engine/cuda/kernels/row_team.cuh"

namespace loom::cuda {

__global__ void __launch_bounds__(kRowThreads) crossEntropy(CrossEntropyArguments a) {
  const RowTeam team = rowTeam(a.wholeBlock);
  for (std::int64_t row = team.first; row < a.rows; row += team.stride) {
    const float* const x = a.logits + row * a.classes;
    const float atLabel = x[a.labels[row]];
    Exponentials own;
    float behind = 0;  // sum of x_label - x_j: of the size of the loss, unlike the sum of x
    for (std::int64_t j = team.lane; j < a.classes; j += team.size) {
      own.add(x[j]);
      if (a.q.other != 0) behind += atLabel - x[j];
    }
    const Exponentials all = teamExponentials(team, own);
    const LogSum logSum{all.largest, logf(all.sum)};
    const float loss = logSum.rest + (logSum.largest - atLabel);
    // sum_j q_j (logSum - x_j), of which every class has `other` and the label the rest.
    float smoothed = 0;
    if (a.q.other != 0) smoothed = a.q.other * (static_cast<float>(a.classes) * loss + teamSum(team, behind));
    if (team.lane == 0) {
      a.losses[row] = (a.q.label - a.q.other) * loss + smoothed;
      a.logSums[row] = logSum;
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kRowThreads) crossEntropyGradient(CrossEntropyGradientArguments a) {
  const RowTeam team = rowTeam(a.wholeBlock);
  const float factor = *a.scale / static_cast<float>(a.rows);
  for (std::int64_t row = team.first; row < a.rows; row += team.stride) {
    const float* const x = a.logits + row * a.classes;
    T* const dx = static_cast<T*>(a.dlogits) + row * a.classes;
    const std::int32_t label = a.labels[row];
    LogSum logSum;
    if (a.logSums != nullptr) {
      logSum = a.logSums[row];
    } else {
      Exponentials own;
      for (std::int64_t j = team.lane; j < a.classes; j += team.size) own.add(x[j]);
      const Exponentials all = teamExponentials(team, own);
      logSum = {all.largest, logf(all.sum)};
    }
    for (std::int64_t j = team.lane; j < a.classes; j += team.size)
      dx[j] = fromFloat<T>(factor * (expf(x[j] - logSum.largest - logSum.rest) - (j == label ? a.q.label : a.q.other)));
  }
}

__global__ void __launch_bounds__(kRowThreads) topK(TopKArguments a) {
  const RowTeam team = rowTeam(a.wholeBlock);
  for (std::int64_t row = team.first; row < a.rows; row += team.stride) {
    const float* const x = a.logits + row * a.classes;
    const std::int32_t label = a.labels[row];
    const float atLabel = x[label];
    int before = 0;  // classes that rank before the label; a NaN never ranks behind
    for (std::int64_t j = team.lane; j < a.classes; j += team.size)
      before += j != label && (!(x[j] <= atLabel) || (x[j] == atLabel && j < label));
    before = teamSum(team, before);
    if (team.lane == 0) a.hits[row] = before < a.k && atLabel == atLabel ? 1 : 0;
  }
}

LOOM_KERNELS(classification, LOOM_KERNEL_ONE("cross_entropy", crossEntropy, CrossEntropyArguments),
             LOOM_KERNEL("cross_entropy_gradient", crossEntropyGradient, CrossEntropyGradientArguments),
             LOOM_KERNEL_ONE("top_k", topK, TopKArguments))

}  // namespace loom::cuda
