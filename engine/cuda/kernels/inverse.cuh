// inverse: Gauss-Jordan with the largest pivot of each column, in place in y.
#include "engine/cuda/kernels/inverse.h"
#include "engine/cuda/kernels/reduce_block.cuh"
#include "engine/ops/inverse.h"

namespace loom::cuda {

// Where column k of the matrix y is largest, from row k on; the first of equals. Every warp looks for itself.
__device__ __forceinline__ int pivotOf(const float* y, int n, int k) {
  float largest = -1;
  int row = k;
  for (int i = k + static_cast<int>(threadIdx.x) % kWarp; i < n; i += kWarp) {
    const float size = fabsf(y[static_cast<std::int64_t>(i) * n + k]);
    if (size > largest) {
      largest = size;
      row = i;
    }
  }
  for (int other = kWarp / 2; other > 0; other /= 2) {
    const float size = __shfl_xor_sync(kWholeWarp, largest, other);
    const int place = __shfl_xor_sync(kWholeWarp, row, other);
    if (size > largest || (size == largest && place < row)) {
      largest = size;
      row = place;
    }
  }
  return row;
}

__global__ void __launch_bounds__(kInverseThreads) invertMatrices(InverseArguments a) {
  LOOM_SHARED(int, pivots, ops::kWidestInverse);
  const int n = a.n, thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x), size = n * n;
  for (std::int64_t matrix = blockIdx.x; matrix < a.matrices; matrix += gridDim.x) {
    const float* const x = a.x + matrix * size;
    float* const y = a.y + matrix * size;
    for (int e = thread; e < size; e += threads) y[e] = x[e];
    __syncthreads();
    bool singular = false;
    for (int k = 0; k < n && !singular; ++k) {
      const int pivot = pivotOf(y, n, k);
      const float value = y[pivot * n + k];
      singular = !(fabsf(value) > 0);
      __syncthreads();  // all have seen the column
      const float scale = 1 / value;
      if (thread == 0) pivots[k] = pivot;
      for (int j = thread; j < n; j += threads) {
        const float taken = y[pivot * n + j];
        y[pivot * n + j] = y[k * n + j];
        y[k * n + j] = j == k ? scale : taken * scale;
      }
      __syncthreads();  // row k is done
      for (int e = thread; e < size; e += threads) {
        const int i = e / n, j = e - i * n;
        if (i != k && j != k) y[e] -= y[i * n + k] * y[k * n + j];
      }
      __syncthreads();  // what stood in column k was needed until here
      for (int i = thread; i < n; i += threads)
        if (i != k) y[i * n + k] *= -scale;
    }
    // Rows that were exchanged before are columns that must be exchanged behind, the last first; a thread has its rows
    // of column k, too.
    for (int k = n - 1; k >= 0 && !singular; --k)
      for (int i = thread; i < n; i += threads) {
        const float taken = y[i * n + k];
        y[i * n + k] = y[i * n + pivots[k]];
        y[i * n + pivots[k]] = taken;
      }
    if (singular)
      for (int i = thread; i < n; i += threads)
        for (int j = 0; j < n; ++j) y[i * n + j] = __int_as_float(0x7fc00000);
  }
}

LOOM_KERNELS(inverse, LOOM_KERNEL_ONE("inverse", invertMatrices, InverseArguments))

}  // namespace loom::cuda
