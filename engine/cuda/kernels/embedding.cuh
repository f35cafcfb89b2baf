// embedding and its gradient: rows of a table by their numbers, and sums of what comes back to each.
#include "engine/cuda/kernels/embedding.h"
#include "engine/cuda/kernels/reduce_block.cuh"
#include "engine/cuda/kernels/strided.cuh"

namespace loom::cuda {

template <class T>
__global__ void __launch_bounds__(256) embedding(EmbeddingArguments a) {
  constexpr int kCount = Pack<T>::kCount;
  T* const y = static_cast<T*>(a.y);
  if (a.width.divisor % kCount == 0) {
    for (std::int64_t i = firstOfThread(); i < a.count / kCount; i += threadsOfGrid()) {
      const std::int64_t place = divided(i * kCount, a.width);
      const float* const from = a.w + a.indices[place] * a.width.divisor + (i * kCount - place * a.width.divisor);
      Pack<T> pack;
      for (int k = 0; k < kCount; k += 4) {
        const Pack<float> four = *reinterpret_cast<const Pack<float>*>(from + k);
        for (int j = 0; j < 4; ++j) pack.at[k + j] = fromFloat<T>(four.at[j]);
      }
      reinterpret_cast<Pack<T>*>(y)[i] = pack;
    }
    return;
  }
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid()) {
    const std::int64_t place = divided(i, a.width);
    y[i] = fromFloat<T>(a.w[a.indices[place] * a.width.divisor + (i - place * a.width.divisor)]);
  }
}

__global__ void __launch_bounds__(256) rowStarts(RowStartsArguments a) {
  for (std::int64_t row = firstOfThread(); row <= a.rows; row += threadsOfGrid()) {
    std::int64_t low = 0, high = a.count;
    while (low < high) {
      const std::int64_t middle = (low + high) / 2;
      if (a.keys[middle] < row)
        low = middle + 1;
      else
        high = middle;
    }
    a.starts[row] = static_cast<std::int32_t>(low);
  }
}

// A lane of a row's warp, for kColumns neighbouring columns: the places from `first` to `last`, every `step`-th.
template <class T, int kColumns>
__device__ __forceinline__ void addPlaces(const EmbeddingGradientArguments& a, std::int64_t column, int first, int last,
                                          int step, float (&sums)[kColumns]) {
  const T* const dy = static_cast<const T*>(a.dy) + column;
  for (int i = first; i < last; i += step) {
    const T* const from = dy + a.places[i] * a.width;
    if constexpr (kColumns == 1) {
      sums[0] += toFloat(*from);
    } else {
      const Pack<T> pack = *reinterpret_cast<const Pack<T>*>(from);
      for (int k = 0; k < kColumns; ++k) sums[k] += toFloat(pack.at[k]);
    }
  }
}

// A block takes eight rows at a time, a warp each; a row with many places is taken by all warps together, which meet in
// their order. The second axis of the grid goes over the columns.
template <class T, int kColumns>
__device__ __forceinline__ void sumPlaces(const EmbeddingGradientArguments& a) {
  constexpr int kWarps = kEmbeddingThreads / kWarp, kMany = 64;
  LOOM_SHARED(float, parts, kColumns* kEmbeddingThreads);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  for (std::int64_t tile = blockIdx.y; tile * kWarp * kColumns < a.width; tile += gridDim.y) {
    const std::int64_t column = (tile * kWarp + lane) * kColumns;
    const bool inside = column < a.width;
    for (std::int64_t eight = static_cast<std::int64_t>(blockIdx.x) * kWarps; eight < a.rows;
         eight += static_cast<std::int64_t>(gridDim.x) * kWarps) {
      const std::int64_t mine = eight + warp;
      if (mine < a.rows && a.starts[mine + 1] - a.starts[mine] <= kMany && inside) {
        float sums[kColumns] = {};
        addPlaces<T, kColumns>(a, column, a.starts[mine], a.starts[mine + 1], 1, sums);
        for (int k = 0; k < kColumns; ++k) a.dw[mine * a.width + column + k] = sums[k];
      }
      for (std::int64_t row = eight; row < eight + kWarps && row < a.rows; ++row) {
        const int first = a.starts[row], last = a.starts[row + 1];
        if (last - first <= kMany) continue;
        float sums[kColumns] = {};
        if (inside) addPlaces<T, kColumns>(a, column, first + warp, last, kWarps, sums);
        for (int k = 0; k < kColumns; ++k) parts[k * kEmbeddingThreads + thread] = sums[k];
        __syncthreads();
        if (warp == 0 && inside) {
          for (int k = 0; k < kColumns; ++k) {
            float sum = 0;
            for (int w = 0; w < kWarps; ++w) sum += parts[k * kEmbeddingThreads + w * kWarp + lane];
            a.dw[row * a.width + column + k] = sum;
          }
        }
        __syncthreads();
      }
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kEmbeddingThreads) embeddingGradient(EmbeddingGradientArguments a) {
  if (a.width % Pack<T>::kCount == 0)
    sumPlaces<T, Pack<T>::kCount>(a);
  else
    sumPlaces<T, 1>(a);
}

LOOM_KERNELS(embedding, LOOM_KERNEL("embedding", embedding, EmbeddingArguments),
             LOOM_KERNEL_ONE("row_starts", rowStarts, RowStartsArguments),
             LOOM_KERNEL("embedding_gradient", embeddingGradient, EmbeddingGradientArguments))

}  // namespace loom::cuda
