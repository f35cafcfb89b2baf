// Sums over all rows of a matrix, and what is added to each of them.
#include "engine/cuda/kernels/bias.h"
#include "engine/cuda/kernels/language.h"

namespace loom::cuda {

// Each thread sums every eighth row of its columns; then one row of threads adds up what the eight have.
template <class T, int kWidth, class Shared>
__device__ __forceinline__ void sumColumns(const ColumnSumArguments& a, Shared& partial) {
  const T* const x = static_cast<const T*>(a.x);
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * a.rowsPerChunk;
  const std::int64_t end = first + a.rowsPerChunk < a.rows ? first + a.rowsPerChunk : a.rows;
  const std::int64_t column =
      (static_cast<std::int64_t>(blockIdx.x) * kColumnSumLanes + threadIdx.x) * static_cast<std::int64_t>(kWidth);
  const bool inside = column < a.columns;
  float sums[kWidth] = {};
  for (std::int64_t row = first + threadIdx.y; inside && row < end; row += kColumnSumRows) {
    if constexpr (kWidth == 1) {
      sums[0] += toFloat(x[row * a.columns + column]);
    } else {
      const Pack<T> pack = *reinterpret_cast<const Pack<T>*>(x + row * a.columns + column);
      for (int k = 0; k < kWidth; ++k) sums[k] += toFloat(pack.at[k]);
    }
  }
  // Row of threads, then number of the pack, then lane: neighbours write to neighbouring banks.
  for (int k = 0; k < kWidth; ++k)
    partial[(threadIdx.y * kWidth + static_cast<unsigned>(k)) * kColumnSumLanes + threadIdx.x] = sums[k];
  __syncthreads();
  if (threadIdx.y != 0 || !inside) return;
  for (int k = 0; k < kWidth; ++k) {
    float sum = 0;
    for (unsigned row = 0; row < kColumnSumRows; ++row)
      sum += partial[(row * kWidth + static_cast<unsigned>(k)) * kColumnSumLanes + threadIdx.x];
    a.sums[static_cast<std::int64_t>(blockIdx.y) * a.columns + column + k] = sum;
  }
}

template <class T>
__global__ void __launch_bounds__(256) columnSums(ColumnSumArguments a) {
  LOOM_SHARED(float, partial, kColumnSumRows* kColumnSumLanes* Pack<T>::kCount);
  if (a.packed)
    sumColumns<T, Pack<T>::kCount>(a, partial);
  else
    sumColumns<T, 1>(a, partial);
}

// Block: lanes x rows of threads, kWholeColumnThreads of them.
template <class T, int kWidth, class Shared>
__device__ __forceinline__ void sumWholeColumns(const ColumnSumArguments& a, Shared& partial) {
  const T* const x = static_cast<const T*>(a.x);
  const std::int64_t column =
      (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * static_cast<std::int64_t>(kWidth);
  const bool inside = column < a.columns;
  float sums[kWidth] = {};
  LOOM_UNROLL_TWICE
  for (std::int64_t row = threadIdx.y; row < a.rows; row += blockDim.y) {
    if (!inside) break;
    const Few<T, kWidth> pack = *reinterpret_cast<const Few<T, kWidth>*>(x + row * a.columns + column);
    for (int k = 0; k < kWidth; ++k) sums[k] += toFloat(pack.at[k]);
  }
  const int me = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (int k = 0; k < kWidth; ++k) partial[k * kWholeColumnThreads + me] = sums[k];
  for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y >= half) continue;
    for (int k = 0; k < kWidth; ++k)
      partial[k * kWholeColumnThreads + me] +=
          partial[k * kWholeColumnThreads + me + static_cast<int>(half * blockDim.x)];
  }
  if (threadIdx.y != 0 || !inside) return;
  for (int k = 0; k < kWidth; ++k) a.sums[column + k] = partial[k * kWholeColumnThreads + me];
}

template <class T>
__global__ void __launch_bounds__(kWholeColumnThreads) wholeColumnSums(ColumnSumArguments a) {
  LOOM_SHARED(float, partial, kWholeColumnThreads* Pack<T>::kCount);
  if (a.packed)
    sumWholeColumns<T, Pack<T>::kCount>(a, partial);
  else
    sumWholeColumns<T, 1>(a, partial);
}

template <class T>
__global__ void __launch_bounds__(256) addBias(AddBiasArguments a) {
  T* const y = static_cast<T*>(a.y);
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid()) {
    float sum = toFloat(y[i]);
    if (a.biasAsY)
      sum += toFloat(static_cast<const T*>(a.bias)[i % a.columns]);
    else if (a.bias != nullptr)
      sum += static_cast<const float*>(a.bias)[i % a.columns];
    y[i] = fromFloat<T>(a.relu && sum < 0 ? 0.0f : sum);  // so written, a NaN stays one
  }
}

LOOM_KERNELS(bias, LOOM_KERNEL("column_sums", columnSums, ColumnSumArguments),
             LOOM_KERNEL("whole_column_sums", wholeColumnSums, ColumnSumArguments),
             LOOM_KERNEL("add_bias", addBias, AddBiasArguments))

}  // namespace loom::cuda
