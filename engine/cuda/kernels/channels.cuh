#pragma once
// The device's part of channels.h, and loads of several numbers at once.
#include "engine/cuda/kernels/channels.h"
#include "engine/cuda/kernels/language.h"

namespace loom::cuda {

// kWidth is Pack<T>::kCount where a row's length is a multiple of it (then each row begins at a multiple of 16 bytes),
// else 1.
template <class T, int kWidth>
struct alignas(sizeof(T) * kWidth) Few {
  T at[kWidth];
};

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
  for (int k = 0; k < kWidth; ++k) to[k] = vector == nullptr ? otherwise : vector[channel + k];
}

// Rows whose loads a thread has under way at once.
inline constexpr int kRowsAhead = 2;

// This thread's: channels [channel, channel + kWidth) of the rows first, first + step, ... below last.
struct ChannelPart {
  std::int64_t channel, first, last, step;
};
template <int kWidth>
__device__ __forceinline__ ChannelPart channelPart(const ChannelRows& view) {
  const std::int64_t chunk = static_cast<std::int64_t>(blockIdx.y) * view.chunkRows;
  const std::int64_t end = chunk + view.chunkRows;
  ChannelPart part{(static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * kWidth, chunk + threadIdx.y,
                   end < view.rows ? end : view.rows, blockDim.y};
  if (part.channel >= view.channels) part.last = part.first;  // none of the rows, but it meets the others
  return part;
}

}  // namespace loom::cuda
