// binary_cross_entropy, mean_squared_error, huber and their gradients, binary_accuracy.
#include "engine/cuda/kernels/losses.h"
#include "engine/cuda/kernels/reduce_block.cuh"

namespace loom::cuda {

__device__ __forceinline__ float lossOf(const LossFunction& f, float x, float target) {
  switch (f.loss) {
    case ElementwiseLoss::binaryCrossEntropyFromLogits:
      return (x < 0 ? 0 : x) - x * target + log1pf(expf(-fabsf(x)));
    case ElementwiseLoss::binaryCrossEntropy: {
      // 1 minus it is no f32, so a probability above it is told by its distance to 1, which is exact. A NaN stays one.
      const float p = x < f.constant ? f.constant : x;
      const float complement = 1 - x < f.constant ? f.constant : 1 - p;
      const float logP = 1 - x < f.constant ? log1pf(-f.constant) : logf(p);
      return -(target * logP + (1 - target) * (p < 0.5f ? log1pf(-p) : logf(complement)));
    }
    case ElementwiseLoss::meanSquaredError:
      return (x - target) * (x - target);
    case ElementwiseLoss::huber: {
      const float d = fabsf(x - target);
      return d <= f.constant ? 0.5f * d * d : f.constant * (d - 0.5f * f.constant);
    }
    case ElementwiseLoss::rightAnswer:  // a NaN is never right
      return (target >= 0.5f ? x >= f.constant : x < f.constant) ? 1 : 0;
  }
  return 0;
}

__device__ __forceinline__ float slopeOf(const LossFunction& f, float x, float target) {
  switch (f.loss) {
    case ElementwiseLoss::binaryCrossEntropyFromLogits: {
      const float small = expf(-fabsf(x));
      return (x >= 0 ? 1 : small) / (1 + small) - target;
    }
    case ElementwiseLoss::binaryCrossEntropy:  // where it is clamped, nothing flows
      return x < f.constant || 1 - x < f.constant ? 0 : (x - target) / (x * (1 - x));
    case ElementwiseLoss::meanSquaredError:
      return 2 * (x - target);
    case ElementwiseLoss::huber: {
      const float d = x - target;
      return d > f.constant ? f.constant : d < -f.constant ? -f.constant : d;
    }
    case ElementwiseLoss::rightAnswer:
      return 0;
  }
  return 0;
}

__global__ void __launch_bounds__(kLossThreads) lossSums(LossArguments a) {
  float sum = 0;
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid()) sum += lossOf(a.f, a.x[i], a.target[i]);
  sum = blockSum<kLossThreads>(sum);
  if (threadIdx.x == 0) a.sums[blockIdx.x] = sum;
}

template <class T>
__global__ void __launch_bounds__(kLossThreads) lossGradient(LossGradientArguments a) {
  const float factor = *a.scale / static_cast<float>(a.count);
  T* const dx = static_cast<T*>(a.dx);
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid())
    dx[i] = fromFloat<T>(factor * slopeOf(a.f, a.x[i], a.target[i]));
}

LOOM_KERNELS(losses, LOOM_KERNEL_ONE("loss_sums", lossSums, LossArguments),
             LOOM_KERNEL("loss_gradient", lossGradient, LossGradientArguments))

}  // namespace loom::cuda
