#pragma once
// The device's part of channels.h, and loads of several numbers at once.
#include "engine/cuda/kernels/channels.h"
#include "engine/cuda/kernels/language.h"

namespace loom::cuda {

// kWidth is Pack<T>::kCount where a row's length is a multiple of it (then each row begins at a multiple of 16 bytes),
// else 1.
template <class T, int kWidth>
__device__ __forceinline__ Few<T, kWidth> loadFew(const T* from) {
  return *reinterpret_cast<const Few<T, kWidth>*>(from);
}

template <class T, int kWidth>
__device__ __forceinline__ void loadFloats(const T* from, float (&to)[kWidth]) {
  const Few<T, kWidth> few = loadFew<T, kWidth>(from);
  for (int k = 0; k < kWidth; ++k) to[k] = toFloat(few.at[k]);
}

template <class T, int kWidth>
__device__ __forceinline__ void storeFloats(const float (&from)[kWidth], T* to) {
  Few<T, kWidth> few;
  for (int k = 0; k < kWidth; ++k) few.at[k] = fromFloat<T>(from[k]);
  *reinterpret_cast<Few<T, kWidth>*>(to) = few;
}

// Of a vector in f32, one number a channel; `otherwise` where there is no vector.
template <int kWidth>
__device__ __forceinline__ void loadOr(const float* vector, std::int64_t channel, float otherwise,
                                       float (&to)[kWidth]) {
  if (vector == nullptr) {
    for (int k = 0; k < kWidth; ++k) to[k] = otherwise;
  } else if constexpr (kWidth == 1) {
    to[0] = vector[channel];
  } else {
    // Rows are whole packs, so vectors of channels are whole fours of numbers, and begin at multiples of 16 bytes.
    static_assert(kWidth % 4 == 0);
    for (int k = 0; k < kWidth; k += 4) {
      const Few<float, 4> four = loadFew<float, 4>(vector + channel + k);
      for (int i = 0; i < 4; ++i) to[k + i] = four.at[i];
    }
  }
}

// Rows whose loads a thread has under way at once.
inline constexpr int kRowsAhead = 2;

// This thread's: channels [channel, channel + kWidth) of the rows first, first + step, ... below last, of one chunk.
struct ChannelPart {
  std::int64_t channel, first, last, step, chunk;
};
// Blocks begin in their order: where a pass over a large tensor follows another, one of them begins with the last chunk
// (`fromTheEnd`), which the other has left in the cache.
template <int kWidth>
__device__ __forceinline__ ChannelPart channelPart(const ChannelRows& view, bool fromTheEnd = false) {
  const std::int64_t chunk = fromTheEnd ? gridDim.y - 1 - blockIdx.y : blockIdx.y;
  const std::int64_t begin = chunk * view.chunkRows, end = begin + view.chunkRows;
  ChannelPart part{(static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kWidth, begin + threadIdx.y,
                   end < view.rows ? end : view.rows, blockDim.y, chunk};
  if (part.channel >= view.channels) part.last = part.first;  // none of the rows, but it meets the others
  return part;
}

// Two sums of each channel over the block's rows, in a fixed tree: in the threads of threadIdx.y 0 when it returns. All
// threads of the block must call, once in a kernel.
template <int kWidth>
__device__ __forceinline__ void sumPairsOfBlock(float (&a)[kWidth], float (&b)[kWidth]) {
  constexpr int kNumbers = kWidth * kChannelThreads;
  LOOM_SHARED(float, first, kNumbers);
  LOOM_SHARED(float, second, kNumbers);
  const int me = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
  for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
    // Those of the upper half give, those of the lower half take: what was taken is not written again.
    if (threadIdx.y >= half && threadIdx.y < 2 * half)
      for (int i = 0; i < kWidth; ++i) {
        first[i * kChannelThreads + me] = a[i];
        second[i * kChannelThreads + me] = b[i];
      }
    __syncthreads();
    if (threadIdx.y >= half) continue;
    const int other = me + static_cast<int>(half * blockDim.x);
    for (int i = 0; i < kWidth; ++i) {
      a[i] += first[i * kChannelThreads + other];
      b[i] += second[i * kChannelThreads + other];
    }
  }
}

// To chunks x {a, b} x channels.
template <int kWidth>
__device__ __forceinline__ void storePairs(const ChannelRows& view, const ChannelPart& part, const float (&a)[kWidth],
                                           const float (&b)[kWidth], float* pairs) {
  if (threadIdx.y != 0 || part.channel >= view.channels) return;
  float* const to = pairs + 2 * part.chunk * view.channels + part.channel;
  for (int i = 0; i < kWidth; ++i) {
    to[i] = a[i];
    to[view.channels + i] = b[i];
  }
}

// A channel's pairs over all chunks, in blocks of 32 channels x 32 threads that share the chunks. Whether this thread
// is the one that has them. All threads of the block must call.
__device__ __forceinline__ bool sumPairsOfChunks(const ChannelRows& view, const float* pairs, std::int64_t channel,
                                                 double& a, double& b) {
  LOOM_SHARED(double, first, 1024);
  LOOM_SHARED(double, second, 1024);
  const int me = static_cast<int>(threadIdx.y * 32 + threadIdx.x);
  a = b = 0;
  if (channel < view.channels)
    for (int chunk = static_cast<int>(threadIdx.y); chunk < view.chunks; chunk += 32) {
      const float* const from = pairs + 2 * chunk * view.channels + channel;
      a += from[0];
      b += from[view.channels];
    }
  first[me] = a;
  second[me] = b;
  for (int half = 16; half > 0; half /= 2) {
    __syncthreads();
    if (static_cast<int>(threadIdx.y) >= half) continue;
    first[me] = a += first[me + half * 32];
    second[me] = b += second[me + half * 32];
  }
  return threadIdx.y == 0 && channel < view.channels;
}

}  // namespace loom::cuda
