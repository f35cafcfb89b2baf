// Max and average pooling of channels-last images: a thread takes a few channels of one place. Gradients gather: a
// thread of x's place goes through the windows that contain it, in their order, so that sums are the same each time.
#include "engine/cuda/kernels/channels.cuh"
#include "engine/cuda/kernels/pooling.h"

namespace loom::cuda {

// A place of the input or the output, and the first of the channels that a thread has there.
struct PoolingPlace {
  std::int64_t sample, place;  // `place`: counted over all samples
  int at[3];
  std::int64_t channel;
};
template <int kWidth>
__device__ __forceinline__ PoolingPlace poolingPlace(const int (&extents)[3], std::int64_t channels, std::int64_t i) {
  const std::int64_t few = channels / kWidth;
  PoolingPlace p;
  p.place = i / few;
  p.channel = (i - p.place * few) * kWidth;
  std::int64_t rest = p.place;
  for (int axis = 2; axis >= 0; --axis) {
    p.at[axis] = static_cast<int>(rest % extents[axis]);
    rest /= extents[axis];
  }
  p.sample = rest;
  return p;
}
template <int kWidth>
__device__ __forceinline__ std::int64_t placesTimesFew(const PoolingWindows& w, const int (&extents)[3]) {
  return w.batch * extents[0] * extents[1] * extents[2] * (w.channels / kWidth);
}

// Along one axis: what of a window is no padding.
struct PoolingRange {
  int first, end;
};
__device__ __forceinline__ PoolingRange insideOf(const PoolingWindows& w, int axis, int output) {
  const int start = output * w.strides[axis] - w.before[axis], end = start + w.kernel[axis];
  return {start < 0 ? 0 : start, end < w.input[axis] ? end : w.input[axis]};
}
// Along one axis: the windows that contain an element of the input.
__device__ __forceinline__ PoolingRange windowsOf(const PoolingWindows& w, int axis, int input) {
  const int from = input + w.before[axis], over = from - w.kernel[axis] + 1, last = from / w.strides[axis] + 1;
  return {over <= 0 ? 0 : (over + w.strides[axis] - 1) / w.strides[axis],
          last < w.output[axis] ? last : w.output[axis]};
}
// The place of an element within the window of this output.
__device__ __forceinline__ int placeIn(const PoolingWindows& w, const int (&output)[3], const int (&input)[3]) {
  int place = 0;
  for (int axis = 0; axis < 3; ++axis)
    place = place * w.kernel[axis] + input[axis] + w.before[axis] - output[axis] * w.strides[axis];
  return place;
}

// Calls visit(place of the input, counted over all samples; its axes) for what of the output's window is no padding.
template <class Visit>
__device__ __forceinline__ void overWindow(const PoolingWindows& w, const PoolingPlace& y, const Visit& visit) {
  const PoolingRange d = insideOf(w, 0, y.at[0]), h = insideOf(w, 1, y.at[1]), v = insideOf(w, 2, y.at[2]);
  int at[3];
  for (at[0] = d.first; at[0] < d.end; ++at[0])
    for (at[1] = h.first; at[1] < h.end; ++at[1]) {
      const std::int64_t row = ((y.sample * w.input[0] + at[0]) * w.input[1] + at[1]) * w.input[2];
      for (at[2] = v.first; at[2] < v.end; ++at[2]) visit(row + at[2], at);
    }
}
// Calls visit(place of the output, its axes) for all windows that contain the input's place.
template <class Visit>
__device__ __forceinline__ void overWindowsOf(const PoolingWindows& w, const PoolingPlace& x, const Visit& visit) {
  const PoolingRange d = windowsOf(w, 0, x.at[0]), h = windowsOf(w, 1, x.at[1]), v = windowsOf(w, 2, x.at[2]);
  int at[3];
  for (at[0] = d.first; at[0] < d.end; ++at[0])
    for (at[1] = h.first; at[1] < h.end; ++at[1]) {
      const std::int64_t row = ((x.sample * w.output[0] + at[0]) * w.output[1] + at[1]) * w.output[2];
      for (at[2] = v.first; at[2] < v.end; ++at[2]) visit(row + at[2], at);
    }
}

template <int kWidth>
__device__ __forceinline__ void storePlaces(const MaxPlaces& places, std::int64_t first, const int (&from)[kWidth]) {
  if (places.wide) {
    for (int k = 0; k < kWidth; ++k) static_cast<std::int32_t*>(places.at)[first + k] = from[k];
    return;
  }
  Few<std::uint8_t, kWidth> few;
  for (int k = 0; k < kWidth; ++k) few.at[k] = static_cast<std::uint8_t>(from[k]);
  *reinterpret_cast<Few<std::uint8_t, kWidth>*>(static_cast<std::uint8_t*>(places.at) + first) = few;
}
template <int kWidth>
__device__ __forceinline__ void loadPlaces(const MaxPlaces& places, std::int64_t first, int (&to)[kWidth]) {
  if (places.wide) {
    for (int k = 0; k < kWidth; ++k) to[k] = static_cast<const std::int32_t*>(places.at)[first + k];
    return;
  }
  const auto few = loadFew<std::uint8_t, kWidth>(static_cast<const std::uint8_t*>(places.at) + first);
  for (int k = 0; k < kWidth; ++k) to[k] = few.at[k];
}

// A NaN wins: it is not hidden.
__device__ __forceinline__ bool beats(float challenger, float best) {
  return challenger > best || (challenger != challenger && best == best);
}

template <class T, int kWidth>
__device__ __forceinline__ void maxPoolingOf(const MaxPoolingArguments& a) {
  const PoolingWindows& w = a.windows;
  for (std::int64_t i = firstOfThread(); i < placesTimesFew<kWidth>(w, w.output); i += threadsOfGrid()) {
    const PoolingPlace y = poolingPlace<kWidth>(w.output, w.channels, i);
    const T* const x = static_cast<const T*>(a.x) + y.channel;
    Few<T, kWidth> best;  // as it stands there, bit for bit
    int place[kWidth];
    bool first = true;
    overWindow(w, y, [&](std::int64_t input, const int(&at)[3]) {
      const Few<T, kWidth> few = loadFew<T, kWidth>(x + input * w.channels);
      const int here = placeIn(w, y.at, at);
      for (int k = 0; k < kWidth; ++k) {
        if (!first && !beats(toFloat(few.at[k]), toFloat(best.at[k]))) continue;
        best.at[k] = few.at[k];
        place[k] = here;
      }
      first = false;
    });
    const std::int64_t to = y.place * w.channels + y.channel;
    if (a.y != nullptr) *reinterpret_cast<Few<T, kWidth>*>(static_cast<T*>(a.y) + to) = best;
    if (a.places.at != nullptr) storePlaces<kWidth>(a.places, to, place);
  }
}

template <class T, int kWidth>
__device__ __forceinline__ void maxPoolingGradientOf(const MaxPoolingGradientArguments& a) {
  const PoolingWindows& w = a.windows;
  for (std::int64_t i = firstOfThread(); i < placesTimesFew<kWidth>(w, w.input); i += threadsOfGrid()) {
    const PoolingPlace x = poolingPlace<kWidth>(w.input, w.channels, i);
    float sum[kWidth] = {};
    overWindowsOf(w, x, [&](std::int64_t output, const int(&at)[3]) {
      const std::int64_t from = output * w.channels + x.channel;
      const int here = placeIn(w, at, x.at);
      int places[kWidth];
      float dy[kWidth], y[kWidth];
      loadPlaces<kWidth>(a.places, from, places);
      loadFloats<T, kWidth>(static_cast<const T*>(a.dy) + from, dy);
      if (a.y != nullptr) loadFloats<T, kWidth>(static_cast<const T*>(a.y) + from, y);
      for (int k = 0; k < kWidth; ++k)
        if (places[k] == here && (a.y == nullptr || y[k] > 0)) sum[k] += dy[k];
    });
    storeFloats<T, kWidth>(sum, static_cast<T*>(a.dx) + x.place * w.channels + x.channel);
  }
}

// What a mean is divided by.
__device__ __forceinline__ float elementsOf(const PoolingWindows& w, const int (&output)[3], bool includePadding) {
  int count = 1;
  for (int axis = 0; axis < 3; ++axis) {
    const PoolingRange inside = insideOf(w, axis, output[axis]);
    count *= includePadding ? w.kernel[axis] : inside.end - inside.first;
  }
  return static_cast<float>(count);
}

template <class T, int kWidth>
__device__ __forceinline__ void averagePoolingOf(const AveragePoolingArguments& a) {
  const PoolingWindows& w = a.windows;
  for (std::int64_t i = firstOfThread(); i < placesTimesFew<kWidth>(w, w.output); i += threadsOfGrid()) {
    const PoolingPlace y = poolingPlace<kWidth>(w.output, w.channels, i);
    const T* const x = static_cast<const T*>(a.x) + y.channel;
    float mean[kWidth] = {};
    overWindow(w, y, [&](std::int64_t input, const int(&)[3]) {
      float values[kWidth];
      loadFloats<T, kWidth>(x + input * w.channels, values);
      for (int k = 0; k < kWidth; ++k) mean[k] += values[k];
    });
    const float count = elementsOf(w, y.at, a.includePadding);
    for (int k = 0; k < kWidth; ++k) mean[k] /= count;
    storeFloats<T, kWidth>(mean, static_cast<T*>(a.y) + y.place * w.channels + y.channel);
  }
}

template <class T, int kWidth>
__device__ __forceinline__ void averagePoolingGradientOf(const AveragePoolingGradientArguments& a) {
  const PoolingWindows& w = a.windows;
  for (std::int64_t i = firstOfThread(); i < placesTimesFew<kWidth>(w, w.input); i += threadsOfGrid()) {
    const PoolingPlace x = poolingPlace<kWidth>(w.input, w.channels, i);
    float sum[kWidth] = {};
    overWindowsOf(w, x, [&](std::int64_t output, const int(&at)[3]) {
      const float count = elementsOf(w, at, a.includePadding);
      float dy[kWidth];
      loadFloats<T, kWidth>(static_cast<const T*>(a.dy) + output * w.channels + x.channel, dy);
      for (int k = 0; k < kWidth; ++k) sum[k] += dy[k] / count;
    });
    storeFloats<T, kWidth>(sum, static_cast<T*>(a.dx) + x.place * w.channels + x.channel);
  }
}

template <class T>
__global__ void __launch_bounds__(256) maxPooling(MaxPoolingArguments a) {
  if (a.windows.channels % Pack<T>::kCount == 0)
    maxPoolingOf<T, Pack<T>::kCount>(a);
  else
    maxPoolingOf<T, 1>(a);
}
template <class T>
__global__ void __launch_bounds__(256) maxPoolingGradient(MaxPoolingGradientArguments a) {
  if (a.windows.channels % Pack<T>::kCount == 0)
    maxPoolingGradientOf<T, Pack<T>::kCount>(a);
  else
    maxPoolingGradientOf<T, 1>(a);
}
template <class T>
__global__ void __launch_bounds__(256, 4) averagePooling(AveragePoolingArguments a) {
  if (a.windows.channels % Pack<T>::kCount == 0)
    averagePoolingOf<T, Pack<T>::kCount>(a);
  else
    averagePoolingOf<T, 1>(a);
}
template <class T>
__global__ void __launch_bounds__(256) averagePoolingGradient(AveragePoolingGradientArguments a) {
  if (a.windows.channels % Pack<T>::kCount == 0)
    averagePoolingGradientOf<T, Pack<T>::kCount>(a);
  else
    averagePoolingGradientOf<T, 1>(a);
}

LOOM_KERNELS(pooling, LOOM_KERNEL("max_pooling", maxPooling, MaxPoolingArguments),
             LOOM_KERNEL("max_pooling_gradient", maxPoolingGradient, MaxPoolingGradientArguments),
             LOOM_KERNEL("average_pooling", averagePooling, AveragePoolingArguments),
             LOOM_KERNEL("average_pooling_gradient", averagePoolingGradient, AveragePoolingGradientArguments))

}  // namespace loom::cuda
