// Batch normalisation: moments of chunks of rows, of all rows, then the normalisation; backwards sums of chunks,
// factors of channels, then dx.
#include "engine/cuda/kernels/batch_normalization.h"
#include "engine/cuda/kernels/channels.cuh"

namespace loom::cuda {

// Of a part of the rows: their number, mean, and sum of squares about the mean.
template <class Number>
struct PartMoments {
  Number count = 0, mean = 0, squares = 0;
};

// Chan, Golub, LeVeque, 1983.
template <class Number>
__device__ __forceinline__ PartMoments<Number> merged(const PartMoments<Number>& a, const PartMoments<Number>& b) {
  if (b.count == 0) return a;
  const Number count = a.count + b.count, share = b.count / count, away = b.mean - a.mean;
  return {count, a.mean + away * share, a.squares + b.squares + away * away * a.count * share};
}

// Welford, 1962: a mean far from zero costs no digits.
template <class T, int kWidth>
__device__ __forceinline__ void momentsOf(const BatchMomentsArguments& a) {
  constexpr int kNumbers = kWidth * kChannelThreads;
  LOOM_SHARED(float, counts, kChannelThreads);
  LOOM_SHARED(float, means, kNumbers);
  LOOM_SHARED(float, squares, kNumbers);
  const ChannelPart part = channelPart<kWidth>(a.view, true);
  const T* const x = static_cast<const T*>(a.x) + part.channel;
  float count = 0, mean[kWidth] = {}, square[kWidth] = {};
  for (std::int64_t row = part.first; row < part.last; row += kRowsAhead * part.step) {
    Few<T, kWidth> ahead[kRowsAhead];
    for (int k = 0; k < kRowsAhead; ++k)
      if (row + k * part.step < part.last) ahead[k] = loadFew<T, kWidth>(x + (row + k * part.step) * a.view.channels);
    for (int k = 0; k < kRowsAhead; ++k) {
      if (row + k * part.step >= part.last) continue;
      count += 1;
      const float share = 1 / count;
      for (int i = 0; i < kWidth; ++i) {
        const float value = toFloat(ahead[k].at[i]), away = value - mean[i];
        mean[i] += away * share;
        square[i] += away * (value - mean[i]);
      }
    }
  }
  const int me = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  counts[me] = count;
  for (int i = 0; i < kWidth; ++i) {
    means[i * kChannelThreads + me] = mean[i];
    squares[i * kChannelThreads + me] = square[i];
  }
  for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y >= half) continue;
    const int other = me + static_cast<int>(half * blockDim.x);
    const float mine = counts[me], theirs = counts[other];
    for (int i = 0; i < kWidth; ++i) {
      const int at = i * kChannelThreads;
      const PartMoments<float> both =
          merged<float>({mine, means[at + me], squares[at + me]}, {theirs, means[at + other], squares[at + other]});
      means[at + me] = both.mean;
      squares[at + me] = both.squares;
    }
    counts[me] = mine + theirs;
  }
  if (threadIdx.y != 0 || part.channel >= a.view.channels) return;
  float* const to = a.moments + 2 * part.chunk * a.view.channels + part.channel;
  for (int i = 0; i < kWidth; ++i) {
    to[i] = means[i * kChannelThreads + me];
    to[a.view.channels + i] = squares[i * kChannelThreads + me];
  }
}

template <class T>
__global__ void __launch_bounds__(kChannelThreads) batchMoments(BatchMomentsArguments a) {
  if (a.view.channels % Pack<T>::kCount == 0)
    momentsOf<T, Pack<T>::kCount>(a);
  else
    momentsOf<T, 1>(a);
}

// Of all chunks, by blocks of 32 channels x 32 threads that share them; the answer is that of the first row of threads.
__device__ __forceinline__ PartMoments<double> momentsOfChunks(const ChannelRows& view, const float* moments,
                                                               std::int64_t channel) {
  LOOM_SHARED(double, counts, 1024);
  LOOM_SHARED(double, means, 1024);
  LOOM_SHARED(double, squares, 1024);
  const int me = static_cast<int>(threadIdx.y * 32 + threadIdx.x);
  PartMoments<double> all;
  constexpr int kAhead = 8;  // chunks whose moments are under way while others are merged, one after another
  if (channel < view.channels)
    for (int begin = static_cast<int>(threadIdx.y); begin < view.chunks; begin += 32 * kAhead) {
      float mean[kAhead] = {}, square[kAhead] = {};
      for (int k = 0; k < kAhead; ++k) {
        const int chunk = begin + 32 * k;
        if (chunk >= view.chunks) continue;
        const float* const from = moments + 2 * chunk * view.channels + channel;
        mean[k] = from[0];
        square[k] = from[view.channels];
      }
      for (int k = 0; k < kAhead; ++k) {
        const int chunk = begin + 32 * k;
        if (chunk >= view.chunks) continue;
        const std::int64_t left = view.rows - chunk * view.chunkRows;
        all = merged<double>(all,
                             {static_cast<double>(left < view.chunkRows ? left : view.chunkRows), mean[k], square[k]});
      }
    }
  counts[me] = all.count;
  means[me] = all.mean;
  squares[me] = all.squares;
  for (int half = 16; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.y) >= half) continue;
    const int other = me + half * 32;
    all = merged<double>(all, {counts[other], means[other], squares[other]});
    counts[me] = all.count;
    means[me] = all.mean;
    squares[me] = all.squares;
  }
  return all;
}

// Arguments: those of batch_statistics or rank_statistics.
template <class Arguments>
__device__ __forceinline__ void storeStatistics(const Arguments& a, std::int64_t channel,
                                                const PartMoments<double>& all) {
  const double n = all.count, variance = all.squares / n;
  a.mean[channel] = static_cast<float>(all.mean);
  a.inverse[channel] = static_cast<float>(1 / sqrt(variance + a.epsilon));
  const double unbiased = n > 1 ? variance * (n / (n - 1)) : variance;
  a.runningMean[channel] = static_cast<float>(a.momentum * a.runningMean[channel] + (1 - a.momentum) * all.mean);
  a.runningVariance[channel] =
      static_cast<float>(a.momentum * a.runningVariance[channel] + (1 - a.momentum) * unbiased);
}

__global__ void __launch_bounds__(1024) batchStatistics(BatchStatisticsArguments a) {
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * 32 + threadIdx.x;
  const PartMoments<double> all = momentsOfChunks(a.view, a.moments, channel);
  if (threadIdx.y == 0 && channel < a.view.channels) storeStatistics(a, channel, all);
}

// What a rank tells of a channel, behind its rows.
__device__ __forceinline__ void storeOfRank(const ChannelRows& view, std::int64_t channel, double first, double second,
                                            double* mine) {
  if (channel == 0) mine[0] = static_cast<double>(view.rows);
  mine[1 + channel] = first;
  mine[1 + view.channels + channel] = second;
}

__global__ void __launch_bounds__(1024) rankMoments(RankMomentsArguments a) {
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * 32 + threadIdx.x;
  const PartMoments<double> all = momentsOfChunks(a.view, a.moments, channel);
  if (threadIdx.y == 0 && channel < a.view.channels) storeOfRank(a.view, channel, all.mean, all.squares, a.mine);
}

// A thread a channel.
__global__ void __launch_bounds__(256) rankStatistics(RankStatisticsArguments a) {
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (channel >= a.channels) return;
  PartMoments<double> all;
  for (int rank = 0; rank < a.ranks; ++rank) {
    const double* const of = a.all + rank * (1 + 2 * a.channels);
    all = merged<double>(all, {of[0], of[1 + channel], of[1 + a.channels + channel]});
  }
  storeStatistics(a, channel, all);
}

// One number of a channel; the same in every kernel, to the bit.
__device__ __forceinline__ float normalised(float x, float mean, float scale, float beta) {
  return fmaf(x - mean, scale, beta);
}

template <class T, int kWidth>
__device__ __forceinline__ void normaliseAll(const NormaliseArguments& a) {
  const ChannelPart part = channelPart<kWidth>(a.view);
  if (part.first >= part.last) return;
  const T* const x = static_cast<const T*>(a.x) + part.channel;
  const T* const addend = a.addend == nullptr ? nullptr : static_cast<const T*>(a.addend) + part.channel;
  T* const y = static_cast<T*>(a.y) + part.channel;
  float mean[kWidth], scale[kWidth], beta[kWidth], inverse[kWidth];
  loadOr(a.mean, part.channel, 0, mean);
  loadOr(a.gamma, part.channel, 1, scale);
  loadOr(a.beta, part.channel, 0, beta);
  loadOr(a.inverse, part.channel, 1, inverse);
  for (int i = 0; i < kWidth; ++i)
    scale[i] *= a.variance == nullptr ? inverse[i] : 1 / sqrtf(a.variance[part.channel + i] + a.epsilon);
  for (std::int64_t row = part.first; row < part.last; row += kRowsAhead * part.step) {
    Few<T, kWidth> ahead[kRowsAhead], added[kRowsAhead];
    for (int k = 0; k < kRowsAhead; ++k) {
      if (row + k * part.step >= part.last) continue;
      ahead[k] = loadFew<T, kWidth>(x + (row + k * part.step) * a.view.channels);
      if (addend != nullptr) added[k] = loadFew<T, kWidth>(addend + (row + k * part.step) * a.view.channels);
    }
    for (int k = 0; k < kRowsAhead; ++k) {
      if (row + k * part.step >= part.last) continue;
      float out[kWidth];
      for (int i = 0; i < kWidth; ++i) {
        out[i] = normalised(toFloat(ahead[k].at[i]), mean[i], scale[i], beta[i]);
        if (addend != nullptr) out[i] += toFloat(added[k].at[i]);
        if (a.relu) out[i] = out[i] < 0 ? 0 : out[i];  // so written, a NaN stays one
      }
      storeFloats<T, kWidth>(out, y + (row + k * part.step) * a.view.channels);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kChannelThreads) normalise(NormaliseArguments a) {
  if (a.view.channels % Pack<T>::kCount == 0)
    normaliseAll<T, Pack<T>::kCount>(a);
  else
    normaliseAll<T, 1>(a);
}

// Where the gradient counts behind the ReLU of a normalisation: where its output, `mask`, is positive. That is told by
// x as well, which is read anyway, where the normalisation added nothing (`fromX`).
template <class T, int kWidth>
struct CountedGradient {
  const T* mask;
  bool fromX;
  float scale[kWidth] = {}, beta[kWidth] = {};

  __device__ __forceinline__ CountedGradient(const ReluOfNormalised& relu, std::int64_t channel, bool any)
      : mask(relu.mask == nullptr ? nullptr : static_cast<const T*>(relu.mask) + channel), fromX(relu.fromX) {
    if (!fromX || !any) return;
    float inverse[kWidth];
    loadOr(relu.gamma, channel, 1, scale);
    loadOr(relu.beta, channel, 0, beta);
    loadOr(relu.inverse, channel, 1, inverse);
    for (int i = 0; i < kWidth; ++i) scale[i] *= inverse[i];
  }
  __device__ __forceinline__ bool counts(int i, float x, float mean, const Few<T, kWidth>& positive) const {
    if (fromX) return toFloat(fromFloat<T>(normalised(x, mean, scale[i], beta[i]))) > 0;
    return mask == nullptr || toFloat(positive.at[i]) > 0;
  }
};

template <class T, int kWidth>
__device__ __forceinline__ void gradientSumsOf(const BatchGradientSumsArguments& a) {
  const ChannelPart part = channelPart<kWidth>(a.view);
  const T* const x = static_cast<const T*>(a.x) + part.channel;
  const T* const dy = static_cast<const T*>(a.dy) + part.channel;
  const CountedGradient<T, kWidth> relu(a.relu, part.channel, part.first < part.last);
  float mean[kWidth] = {}, sum[kWidth] = {}, product[kWidth] = {};
  if (part.first < part.last) loadOr(a.mean, part.channel, 0, mean);
  for (std::int64_t row = part.first; row < part.last; row += kRowsAhead * part.step) {
    Few<T, kWidth> ahead[kRowsAhead], back[kRowsAhead], positive[kRowsAhead];
    for (int k = 0; k < kRowsAhead; ++k) {
      const std::int64_t at = (row + k * part.step) * a.view.channels;
      if (row + k * part.step >= part.last) continue;
      ahead[k] = loadFew<T, kWidth>(x + at);
      back[k] = loadFew<T, kWidth>(dy + at);
      if (relu.mask != nullptr) positive[k] = loadFew<T, kWidth>(relu.mask + at);
    }
    for (int k = 0; k < kRowsAhead; ++k) {
      if (row + k * part.step >= part.last) continue;
      for (int i = 0; i < kWidth; ++i) {
        const float value = toFloat(ahead[k].at[i]);
        const float gradient = relu.counts(i, value, mean[i], positive[k]) ? toFloat(back[k].at[i]) : 0;
        sum[i] += gradient;
        product[i] += gradient * (value - mean[i]);
      }
    }
  }
  sumPairsOfBlock<kWidth>(sum, product);
  storePairs<kWidth>(a.view, part, sum, product, a.sums);
}

template <class T>
__global__ void __launch_bounds__(kChannelThreads) batchGradientSums(BatchGradientSumsArguments a) {
  if (a.view.channels % Pack<T>::kCount == 0)
    gradientSumsOf<T, Pack<T>::kCount>(a);
  else
    gradientSumsOf<T, 1>(a);
}

// Arguments: those of batch_gradient_factors or rank_factors; `n` rows.
template <class Arguments>
__device__ __forceinline__ void storeFactors(const Arguments& a, std::int64_t channels, std::int64_t channel,
                                             double sum, double product, double n) {
  const double inverse = a.inverse[channel], factor = (a.gamma == nullptr ? 1.0 : a.gamma[channel]) * inverse;
  a.factors[channel] = static_cast<float>(factor);
  a.factors[channels + channel] = static_cast<float>(factor * inverse * inverse * product / n);
  a.factors[2 * channels + channel] = static_cast<float>(factor * sum / n);
}

template <class Arguments>
__device__ __forceinline__ void storeGradients(const Arguments& a, std::int64_t channel, double sum, double product) {
  if (a.dgamma != nullptr) a.dgamma[channel] = static_cast<float>(product * a.inverse[channel]);
  if (a.dbeta != nullptr) a.dbeta[channel] = static_cast<float>(sum);
}

__global__ void __launch_bounds__(1024) batchGradientFactors(BatchGradientFactorsArguments a) {
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * 32 + threadIdx.x;
  double sum = 0, product = 0;
  if (!sumPairsOfChunks(a.view, a.sums, channel, sum, product)) return;
  storeGradients(a, channel, sum, product);
  storeFactors(a, a.view.channels, channel, sum, product, static_cast<double>(a.view.rows));
}

__global__ void __launch_bounds__(1024) rankSums(RankSumsArguments a) {
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * 32 + threadIdx.x;
  double sum = 0, product = 0;
  if (!sumPairsOfChunks(a.view, a.sums, channel, sum, product)) return;
  storeGradients(a, channel, sum, product);
  storeOfRank(a.view, channel, sum, product, a.mine);
}

// A thread a channel.
__global__ void __launch_bounds__(256) rankFactors(RankFactorsArguments a) {
  const std::int64_t channel = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (channel >= a.channels) return;
  double rows = 0, sum = 0, product = 0;
  for (int rank = 0; rank < a.ranks; ++rank) {
    const double* const of = a.all + rank * (1 + 2 * a.channels);
    rows += of[0];
    sum += of[1 + channel];
    product += of[1 + a.channels + channel];
  }
  storeFactors(a, a.channels, channel, sum, product, rows);
}

template <class T, int kWidth>
__device__ __forceinline__ void gradientOf(const BatchGradientArguments& a) {
  const ChannelPart part = channelPart<kWidth>(a.view, true);
  if (part.first >= part.last) return;
  const T* const x = static_cast<const T*>(a.x) + part.channel;
  const T* const dy = static_cast<const T*>(a.dy) + part.channel;
  const CountedGradient<T, kWidth> relu(a.relu, part.channel, true);
  T* const dx = static_cast<T*>(a.dx) + part.channel;
  float mean[kWidth], factor[kWidth], slope[kWidth], offset[kWidth];
  loadOr(a.mean, part.channel, 0, mean);
  loadOr(a.factors, part.channel, 0, factor);
  loadOr(a.factors, a.view.channels + part.channel, 0, slope);
  loadOr(a.factors, 2 * a.view.channels + part.channel, 0, offset);
  for (std::int64_t row = part.first; row < part.last; row += kRowsAhead * part.step) {
    Few<T, kWidth> ahead[kRowsAhead], back[kRowsAhead], positive[kRowsAhead];
    for (int k = 0; k < kRowsAhead; ++k) {
      const std::int64_t at = (row + k * part.step) * a.view.channels;
      if (row + k * part.step >= part.last) continue;
      ahead[k] = loadFew<T, kWidth>(x + at);
      back[k] = loadFew<T, kWidth>(dy + at);
      if (relu.mask != nullptr) positive[k] = loadFew<T, kWidth>(relu.mask + at);
    }
    for (int k = 0; k < kRowsAhead; ++k) {
      if (row + k * part.step >= part.last) continue;
      float out[kWidth];
      for (int i = 0; i < kWidth; ++i) {
        const float value = toFloat(ahead[k].at[i]);
        const float gradient = relu.counts(i, value, mean[i], positive[k]) ? toFloat(back[k].at[i]) : 0;
        out[i] = factor[i] * gradient - slope[i] * (value - mean[i]) - offset[i];
      }
      storeFloats<T, kWidth>(out, dx + (row + k * part.step) * a.view.channels);
    }
  }
}

template <class T>
__global__ void __launch_bounds__(kChannelThreads) batchGradient(BatchGradientArguments a) {
  if (a.view.channels % Pack<T>::kCount == 0)
    gradientOf<T, Pack<T>::kCount>(a);
  else
    gradientOf<T, 1>(a);
}

LOOM_KERNELS(batch_normalization, LOOM_KERNEL("batch_moments", batchMoments, BatchMomentsArguments),
             LOOM_KERNEL_ONE("batch_statistics", batchStatistics, BatchStatisticsArguments),
             LOOM_KERNEL_ONE("rank_moments", rankMoments, RankMomentsArguments),
             LOOM_KERNEL_ONE("rank_statistics", rankStatistics, RankStatisticsArguments),
             LOOM_KERNEL("normalise", normalise, NormaliseArguments),
             LOOM_KERNEL("batch_gradient_sums", batchGradientSums, BatchGradientSumsArguments),
             LOOM_KERNEL_ONE("batch_gradient_factors", batchGradientFactors, BatchGradientFactorsArguments),
             LOOM_KERNEL_ONE("rank_sums", rankSums, RankSumsArguments),
             LOOM_KERNEL_ONE("rank_factors", rankFactors, RankFactorsArguments),
             LOOM_KERNEL("batch_gradient", batchGradient, BatchGradientArguments))

}  // namespace loom::cuda
