// resample, one_hot, top_k: numbers picked out of others.
#include "engine/cuda/kernels/picking.h"
#include "engine/cuda/kernels/reduce_block.cuh"
#include "engine/cuda/kernels/strided.cuh"

namespace loom::cuda {

template <class T>
__global__ void __launch_bounds__(256) resample(ResampleArguments a) {
  const T* const x = static_cast<const T*>(a.x);
  T* const y = static_cast<T*>(a.y);
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid()) {
    const std::int64_t row = divided(i, a.inner), outer = divided(row, a.length), at = row - outer * a.length.divisor;
    const T* const from = x + outer * a.extent * a.inner.divisor + (i - row * a.inner.divisor);
    const std::int32_t first = a.starts[at], last = a.starts[at + 1];
    float sum = first == last ? a.fill : 0;
    for (std::int32_t k = first; k < last; ++k)
      sum += toFloat(from[a.places[k] * a.inner.divisor]) * (a.weights == nullptr ? 1.0f : a.weights[k]);
    y[i] = fromFloat<T>(sum);
  }
}

template <class T>
__global__ void __launch_bounds__(256) oneHot(OneHotArguments a) {
  T* const y = static_cast<T*>(a.y);
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid()) {
    const std::int64_t row = divided(i, a.classes);
    y[i] = fromFloat<T>(i - row * a.classes.divisor == a.indices[row] ? 1 : 0);
  }
}

// Where a number stands in the order: by itself, then by its place.
struct Ranked {
  float value;
  std::int32_t place;  // -1: none
};
__device__ __forceinline__ bool isBefore(const Ranked& a, const Ranked& b, bool falling) {
  if (a.place < 0 || b.place < 0) return b.place < 0 && a.place >= 0;
  const bool nanA = a.value != a.value, nanB = b.value != b.value;
  if (nanA != nanB) return nanA;
  if (!nanA && a.value != b.value) return falling ? a.value > b.value : a.value < b.value;
  return a.place < b.place;
}

// k times the first of all that come behind the one before.
__global__ void __launch_bounds__(kOrderThreads) firstInOrder(OrderArguments a) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  for (std::int64_t row = firstOfThread() / kWarp; row < a.rows; row += threadsOfGrid() / kWarp) {
    const float* const x = a.x + row * a.n;
    Ranked last{0, -1};
    for (std::int64_t taken = 0; taken < a.k; ++taken) {
      Ranked best{0, -1};
      for (std::int64_t i = lane; i < a.n; i += kWarp) {
        const Ranked one{x[i], static_cast<std::int32_t>(i)};
        if ((taken == 0 || isBefore(last, one, a.falling)) && isBefore(one, best, a.falling)) best = one;
      }
      for (int other = kWarp / 2; other > 0; other /= 2) {
        const Ranked theirs{__shfl_xor_sync(kWholeWarp, best.value, other),
                            __shfl_xor_sync(kWholeWarp, best.place, other)};
        if (isBefore(theirs, best, a.falling)) best = theirs;
      }
      last = best;
      if (lane != 0) continue;
      a.values[row * a.k + taken] = best.value;
      a.places[row * a.k + taken] = static_cast<float>(best.place);
    }
  }
}

LOOM_KERNELS(picking, LOOM_KERNEL("resample", resample, ResampleArguments),
             LOOM_KERNEL("one_hot", oneHot, OneHotArguments),
             LOOM_KERNEL_ONE("first_in_order", firstInOrder, OrderArguments))

}  // namespace loom::cuda
