// softmax and its gradient: a row is read twice, the second time from a cache.
#include "engine/cuda/kernels/row_team.cuh"
#include "engine/cuda/kernels/softmax.h"

namespace loom::cuda {

template <class T>
__global__ void __launch_bounds__(kRowThreads) softmax(SoftmaxArguments a) {
  const RowTeam team = rowTeam(a.wholeBlock);
  for (std::int64_t row = team.first; row < a.rows; row += team.stride) {
    const T* const x = static_cast<const T*>(a.x) + row * a.channels;
    T* const y = static_cast<T*>(a.y) + row * a.channels;
    Exponentials own;
    for (std::int64_t j = team.lane; j < a.channels; j += team.size) own.add(toFloat(x[j]));
    const Exponentials all = teamExponentials(team, own);
    const float share = 1 / all.sum;
    for (std::int64_t j = team.lane; j < a.channels; j += team.size)
      y[j] = fromFloat<T>(expf(toFloat(x[j]) - all.largest) * share);
  }
}

template <class T>
__global__ void __launch_bounds__(kRowThreads) softmaxGradient(SoftmaxGradientArguments a) {
  const RowTeam team = rowTeam(a.wholeBlock);
  for (std::int64_t row = team.first; row < a.rows; row += team.stride) {
    const T *const y = static_cast<const T*>(a.y) + row * a.channels, *const dy = static_cast<const T*>(a.dy) +
                                                                                  row * a.channels;
    T* const dx = static_cast<T*>(a.dx) + row * a.channels;
    float sum = 0;
    for (std::int64_t j = team.lane; j < a.channels; j += team.size) sum += toFloat(y[j]) * toFloat(dy[j]);
    sum = teamSum(team, sum);
    for (std::int64_t j = team.lane; j < a.channels; j += team.size)
      dx[j] = fromFloat<T>(toFloat(y[j]) * (toFloat(dy[j]) - sum));
  }
}

LOOM_KERNELS(softmax, LOOM_KERNEL("softmax", softmax, SoftmaxArguments),
             LOOM_KERNEL("softmax_gradient", softmaxGradient, SoftmaxGradientArguments))

}  // namespace loom::cuda
