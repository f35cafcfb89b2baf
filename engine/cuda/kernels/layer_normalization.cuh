// Layer normalisation: a warp a row, or for long rows a block, the row in registers.
#include "engine/cuda/kernels/channels.cuh"
#include "engine/cuda/kernels/layer_normalization.h"
#include "engine/cuda/kernels/reduce_block.cuh"

namespace loom::cuda {

// The threads that share a row.
struct WarpOfRow {
  static constexpr int kHeld = kHeldByWarp;
  static __device__ __forceinline__ int threads() { return kWarp; }
  static __device__ __forceinline__ int thread() { return static_cast<int>(threadIdx.x % kWarp); }
  static __device__ __forceinline__ std::int64_t firstRow() { return firstOfThread() / kWarp; }
  static __device__ __forceinline__ std::int64_t rowsOfGrid() { return threadsOfGrid() / kWarp; }
  static __device__ __forceinline__ float sum(float value) { return warpSum(value); }
};
struct BlockOfRow {
  static constexpr int kHeld = kHeldByBlock;
  static __device__ __forceinline__ int threads() { return static_cast<int>(blockDim.x); }
  static __device__ __forceinline__ int thread() { return static_cast<int>(threadIdx.x); }
  static __device__ __forceinline__ std::int64_t firstRow() { return blockIdx.x; }
  static __device__ __forceinline__ std::int64_t rowsOfGrid() { return gridDim.x; }
  static __device__ __forceinline__ float sum(float value) { return blockSum<kMostRowThreads>(value); }
};

// Where this thread's numbers of a row stand: kHeld / kWidth times kWidth that it keeps, and what is beyond.
template <class Team, int kWidth>
struct RowPart {
  static constexpr int kKept = Team::kHeld / kWidth;
  std::int64_t length;

  __device__ __forceinline__ std::int64_t column(int kept) const {
    return (static_cast<std::int64_t>(kept) * Team::threads() + Team::thread()) * kWidth;
  }
  __device__ __forceinline__ std::int64_t beyond() const { return column(kKept); }
  __device__ __forceinline__ std::int64_t stride() const { return static_cast<std::int64_t>(Team::threads()) * kWidth; }
};

template <class T, class Team, int kWidth>
__device__ __forceinline__ void layerNormalizationOf(const LayerNormalizationArguments& a) {
  const RowPart<Team, kWidth> part{a.length};
  const float count = static_cast<float>(a.length);
  for (std::int64_t row = Team::firstRow(); row < a.rows; row += Team::rowsOfGrid()) {
    const T* const x = static_cast<const T*>(a.x) + row * a.length;
    T* const y = static_cast<T*>(a.y) + row * a.length;
    float kept[part.kKept][kWidth];
    // Calls visit(numbers, column of the first) for all that this thread has of the row.
    const auto overRow = [&](const auto& visit) {
      for (int k = 0; k < part.kKept; ++k)
        if (part.column(k) < a.length) visit(kept[k], part.column(k));
      for (std::int64_t column = part.beyond(); column < a.length; column += part.stride()) {
        float again[kWidth];
        loadFloats<T, kWidth>(x + column, again);
        visit(again, column);
      }
    };
    for (int k = 0; k < part.kKept; ++k)
      if (part.column(k) < a.length) loadFloats<T, kWidth>(x + part.column(k), kept[k]);
    float sum = 0;
    overRow([&](const float(&values)[kWidth], std::int64_t) {
      for (int i = 0; i < kWidth; ++i) sum += values[i];
    });
    const float mean = Team::sum(sum) / count;
    float squares = 0;
    overRow([&](const float(&values)[kWidth], std::int64_t) {
      for (int i = 0; i < kWidth; ++i) squares += (values[i] - mean) * (values[i] - mean);
    });
    const float inverse = 1 / sqrtf(Team::sum(squares) / count + a.epsilon);
    overRow([&](const float(&values)[kWidth], std::int64_t column) {
      float gamma[kWidth], beta[kWidth], out[kWidth];
      loadOr(a.gamma, column, 1, gamma);
      loadOr(a.beta, column, 0, beta);
      for (int i = 0; i < kWidth; ++i) out[i] = (values[i] - mean) * inverse * gamma[i] + beta[i];
      storeFloats<T, kWidth>(out, y + column);
    });
    if (Team::thread() != 0) continue;
    a.mean[row] = mean;
    a.inverse[row] = inverse;
  }
}

template <class T, class Team>
__device__ __forceinline__ void layerNormalization(const LayerNormalizationArguments& a) {
  if (a.length % Pack<T>::kCount == 0)
    layerNormalizationOf<T, Team, Pack<T>::kCount>(a);
  else
    layerNormalizationOf<T, Team, 1>(a);
}
template <class T>
__global__ void __launch_bounds__(256, 2) layerNormalizationWarps(LayerNormalizationArguments a) {
  layerNormalization<T, WarpOfRow>(a);
}
template <class T>
__global__ void __launch_bounds__(kMostRowThreads, 1) layerNormalizationBlocks(LayerNormalizationArguments a) {
  layerNormalization<T, BlockOfRow>(a);
}

template <class T, class Team, int kWidth>
__device__ __forceinline__ void layerGradientOf(const LayerGradientArguments& a) {
  const RowPart<Team, kWidth> part{a.length};
  const float count = static_cast<float>(a.length);
  for (std::int64_t row = Team::firstRow(); row < a.rows; row += Team::rowsOfGrid()) {
    const T* const x = static_cast<const T*>(a.x) + row * a.length;
    const T* const dy = static_cast<const T*>(a.dy) + row * a.length;
    const T* const addend = a.addend == nullptr ? nullptr : static_cast<const T*>(a.addend) + row * a.length;
    T* const dx = static_cast<T*>(a.dx) + row * a.length;
    const float mean = a.mean[row], inverse = a.inverse[row];
    float keptG[part.kKept][kWidth], keptH[part.kKept][kWidth];
    const auto load = [&](std::int64_t column, float(&g)[kWidth], float(&h)[kWidth]) {
      float gamma[kWidth];
      loadFloats<T, kWidth>(dy + column, g);
      loadFloats<T, kWidth>(x + column, h);
      loadOr(a.gamma, column, 1, gamma);
      for (int i = 0; i < kWidth; ++i) {
        g[i] *= gamma[i];
        h[i] = (h[i] - mean) * inverse;
      }
    };
    const auto overRow = [&](const auto& visit) {
      for (int k = 0; k < part.kKept; ++k)
        if (part.column(k) < a.length) visit(keptG[k], keptH[k], part.column(k));
      for (std::int64_t column = part.beyond(); column < a.length; column += part.stride()) {
        float g[kWidth], h[kWidth];
        load(column, g, h);
        visit(g, h, column);
      }
    };
    for (int k = 0; k < part.kKept; ++k)
      if (part.column(k) < a.length) load(part.column(k), keptG[k], keptH[k]);
    float sum = 0, product = 0;
    overRow([&](const float(&g)[kWidth], const float(&h)[kWidth], std::int64_t) {
      for (int i = 0; i < kWidth; ++i) {
        sum += g[i];
        product += g[i] * h[i];
      }
    });
    const float meanG = Team::sum(sum) / count, meanGH = Team::sum(product) / count;
    overRow([&](const float(&g)[kWidth], const float(&h)[kWidth], std::int64_t column) {
      float out[kWidth];
      for (int i = 0; i < kWidth; ++i) out[i] = inverse * (g[i] - meanG - h[i] * meanGH);
      if (addend != nullptr) {
        float added[kWidth];
        loadFloats<T, kWidth>(addend + column, added);
        for (int i = 0; i < kWidth; ++i) out[i] += added[i];
      }
      storeFloats<T, kWidth>(out, dx + column);
    });
  }
}

template <class T, class Team>
__device__ __forceinline__ void layerGradient(const LayerGradientArguments& a) {
  if (a.length % Pack<T>::kCount == 0)
    layerGradientOf<T, Team, Pack<T>::kCount>(a);
  else
    layerGradientOf<T, Team, 1>(a);
}
template <class T>
__global__ void __launch_bounds__(256, 2) layerGradientWarps(LayerGradientArguments a) {
  layerGradient<T, WarpOfRow>(a);
}
template <class T>
__global__ void __launch_bounds__(kMostRowThreads, 1) layerGradientBlocks(LayerGradientArguments a) {
  layerGradient<T, BlockOfRow>(a);
}

template <class T, int kWidth>
__device__ __forceinline__ void layerGradientSumsOf(const LayerGradientSumsArguments& a) {
  const ChannelPart part = channelPart<kWidth>(a.view);
  const T* const x = static_cast<const T*>(a.x) + part.channel;
  const T* const dy = static_cast<const T*>(a.dy) + part.channel;
  float products[kWidth] = {}, sums[kWidth] = {};
  for (std::int64_t row = part.first; row < part.last; row += part.step) {
    float h[kWidth], gradient[kWidth];
    loadFloats<T, kWidth>(x + row * a.view.channels, h);
    loadFloats<T, kWidth>(dy + row * a.view.channels, gradient);
    const float mean = a.mean[row], inverse = a.inverse[row];
    for (int i = 0; i < kWidth; ++i) {
      products[i] += gradient[i] * ((h[i] - mean) * inverse);
      sums[i] += gradient[i];
    }
  }
  sumPairsOfBlock<kWidth>(products, sums);
  storePairs<kWidth>(a.view, part, products, sums, a.sums);
}

template <class T>
__global__ void __launch_bounds__(kChannelThreads) layerGradientSums(LayerGradientSumsArguments a) {
  if (a.view.channels % Pack<T>::kCount == 0)
    layerGradientSumsOf<T, Pack<T>::kCount>(a);
  else
    layerGradientSumsOf<T, 1>(a);
}

__global__ void __launch_bounds__(1024) layerParameterGradients(LayerParameterGradientsArguments a) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * 32 + threadIdx.x;
  double dgamma = 0, dbeta = 0;
  if (!sumPairsOfChunks(a.view, a.sums, column, dgamma, dbeta)) return;
  if (a.dgamma != nullptr) a.dgamma[column] = static_cast<float>(dgamma);
  if (a.dbeta != nullptr) a.dbeta[column] = static_cast<float>(dbeta);
}

LOOM_KERNELS(layer_normalization,
             LOOM_KERNEL("layer_normalization_warps", layerNormalizationWarps, LayerNormalizationArguments),
             LOOM_KERNEL("layer_normalization_blocks", layerNormalizationBlocks, LayerNormalizationArguments),
             LOOM_KERNEL("layer_gradient_warps", layerGradientWarps, LayerGradientArguments),
             LOOM_KERNEL("layer_gradient_blocks", layerGradientBlocks, LayerGradientArguments),
             LOOM_KERNEL("layer_gradient_sums", layerGradientSums, LayerGradientSumsArguments),
             LOOM_KERNEL_ONE("layer_parameter_gradients", layerParameterGradients, LayerParameterGradientsArguments))

}  // namespace loom::cuda
