// running_mean.
#include "engine/cuda/kernels/language.h"
#include "engine/cuda/kernels/running_mean.h"

namespace loom::cuda {

__global__ void __launch_bounds__(256) runningMean(RunningMeanArguments a) {
  const float share = 1 / (a.batches[0] + 1);
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid())
    a.y[i] = a.mean[i] += share * (a.batch[i] - a.mean[i]);
}

__global__ void __launch_bounds__(32) countBatch(CountBatchArguments a) {
  if (threadIdx.x != 0) return;
  const float batches = a.batches[0] + 1;
  a.share[0] = 1 / batches;
  a.batches[0] = batches;
}

LOOM_KERNELS(running_mean, LOOM_KERNEL_ONE("running_mean", runningMean, RunningMeanArguments),
             LOOM_KERNEL_ONE("count_batch", countBatch, CountBatchArguments))

}  // namespace loom::cuda
