// Local response normalisation: an element a thread; the channels beside it are in the cache.
#include "engine/cuda/kernels/language.h"
#include "engine/cuda/kernels/local_response_normalization.h"

namespace loom::cuda {

// d of element i. Its window is cut off at both ends of the channels.
template <class T>
__device__ __forceinline__ float responseOf(const ResponseWindow& window, const T* x, std::int64_t i) {
  const std::int64_t channel = i % window.channels, left = window.channels - 1 - channel;
  const std::int64_t first = i - (channel < window.before ? channel : window.before),
                     last = i + (left < window.after ? left : window.after);
  float sum = 0;
  for (std::int64_t j = first; j <= last; ++j) sum += toFloat(x[j]) * toFloat(x[j]);
  return window.k + window.alpha * sum;
}

template <class T>
__global__ void __launch_bounds__(256) localResponse(ResponseArguments a) {
  const T* const x = static_cast<const T*>(a.x);
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid())
    static_cast<T*>(a.y)[i] = fromFloat<T>(toFloat(x[i]) * powf(responseOf(a.window, x, i), -a.window.beta));
}

template <class T>
__global__ void __launch_bounds__(256) localResponseFactors(ResponseFactorsArguments a) {
  const T *const x = static_cast<const T*>(a.x), *const dy = static_cast<const T*>(a.dy);
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid())
    a.factors[i] = toFloat(dy[i]) * toFloat(x[i]) * powf(responseOf(a.window, x, i), -a.window.beta - 1);
}

template <class T>
__global__ void __launch_bounds__(256) localResponseGradient(ResponseGradientArguments a) {
  const T *const x = static_cast<const T*>(a.x), *const dy = static_cast<const T*>(a.dy);
  const ResponseWindow& window = a.window;
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid()) {
    const std::int64_t channel = i % window.channels, left = window.channels - 1 - channel;
    const std::int64_t first = i - (channel < window.after ? channel : window.after),
                       last = i + (left < window.before ? left : window.before);
    float sum = 0;
    for (std::int64_t c = first; c <= last; ++c) sum += a.factors[c];
    const float direct = toFloat(dy[i]) * powf(responseOf(window, x, i), -window.beta);
    static_cast<T*>(a.dx)[i] = fromFloat<T>(direct - 2 * window.alpha * window.beta * toFloat(x[i]) * sum);
  }
}

LOOM_KERNELS(local_response_normalization, LOOM_KERNEL("local_response", localResponse, ResponseArguments),
             LOOM_KERNEL("local_response_factors", localResponseFactors, ResponseFactorsArguments),
             LOOM_KERNEL("local_response_gradient", localResponseGradient, ResponseGradientArguments))

}  // namespace loom::cuda
