// softmax and its gradient: a row is read twice, the second time from a cache.
#include "engine/cuda/kernels/row_team.cuh"
#include "engine/cuda/kernels/softmax.h"

namespace loom::cuda {

template <class T, int kCount>
__device__ __forceinline__ void softmaxRows(const SoftmaxArguments& a) {
  using Numbers = Few<T, kCount>;
  const RowTeam team = rowTeam(a.wholeBlock);
  const std::int64_t length = a.channels / kCount;
  for (std::int64_t row = team.first; row < a.rows; row += team.stride) {
    const Numbers* const x = static_cast<const Numbers*>(a.x) + row * length;
    Numbers* const y = static_cast<Numbers*>(a.y) + row * length;
    Exponentials own;
    for (std::int64_t j = team.lane; j < length; j += team.size) {
      const Numbers some = x[j];
      for (int k = 0; k < kCount; ++k) own.add(toFloat(some.at[k]));
    }
    const Exponentials all = teamExponentials(team, own);
    const float share = 1 / all.sum;
    for (std::int64_t j = team.lane; j < length; j += team.size) {
      Numbers some = x[j];
      for (int k = 0; k < kCount; ++k) some.at[k] = fromFloat<T>(expf(toFloat(some.at[k]) - all.largest) * share);
      y[j] = some;
    }
  }
}

template <class T, int kCount>
__device__ __forceinline__ void softmaxGradientRows(const SoftmaxGradientArguments& a) {
  using Numbers = Few<T, kCount>;
  const RowTeam team = rowTeam(a.wholeBlock);
  const std::int64_t length = a.channels / kCount;
  for (std::int64_t row = team.first; row < a.rows; row += team.stride) {
    const Numbers *const y = static_cast<const Numbers*>(a.y) + row * length, *const dy =
                                                                                  static_cast<const Numbers*>(a.dy) +
                                                                                  row * length;
    Numbers* const dx = static_cast<Numbers*>(a.dx) + row * length;
    float sum = 0;
    for (std::int64_t j = team.lane; j < length; j += team.size) {
      const Numbers some = y[j], slopes = dy[j];
      for (int k = 0; k < kCount; ++k) sum += toFloat(some.at[k]) * toFloat(slopes.at[k]);
    }
    sum = teamSum(team, sum);
    for (std::int64_t j = team.lane; j < length; j += team.size) {
      Numbers some = y[j];
      const Numbers slopes = dy[j];
      for (int k = 0; k < kCount; ++k) some.at[k] = fromFloat<T>(toFloat(some.at[k]) * (toFloat(slopes.at[k]) - sum));
      dx[j] = some;
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kRowThreads) softmax(SoftmaxArguments a) {
  if (a.channels % Pack<T>::kCount == 0)
    softmaxRows<T, Pack<T>::kCount>(a);
  else
    softmaxRows<T, 1>(a);
}

template <class T>
__global__ void __launch_bounds__(kRowThreads) softmaxGradient(SoftmaxGradientArguments a) {
  if (a.channels % Pack<T>::kCount == 0)
    softmaxGradientRows<T, Pack<T>::kCount>(a);
  else
    softmaxGradientRows<T, 1>(a);
}

LOOM_KERNELS(softmax, LOOM_KERNEL("softmax", softmax, SoftmaxArguments),
             LOOM_KERNEL("softmax_gradient", softmaxGradient, SoftmaxGradientArguments))

}  // namespace loom::cuda
