#pragma once
// The device's part of strided.h.
#include "engine/cuda/kernels/language.h"
#include "engine/cuda/kernels/strided.h"

namespace loom::cuda {

// n / by for n >= 0.
__device__ __forceinline__ std::int64_t divided(std::int64_t n, const Divisor& by) {
  if ((n | by.divisor) >> 32 != 0) return n / by.divisor;
  const auto low = static_cast<std::uint32_t>(n);
  const std::uint64_t high = static_cast<std::uint64_t>(low) * by.multiplier >> 32;
  return static_cast<std::int64_t>((high + low) >> by.shift);
}

__device__ __forceinline__ std::int64_t placeIn(const Strided& strided, std::int64_t i) {
  std::int64_t place = 0;
  for (int k = strided.groups - 1; k > 0; --k) {
    const std::int64_t outer = divided(i, strided.extents[k]);
    place += (i - outer * strided.extents[k].divisor) * strided.strides[k];
    i = outer;
  }
  return place + i * strided.strides[0];
}

// Of the innermost group, on the device.
__device__ __forceinline__ std::int64_t runOf(const Strided& strided) {
  return strided.extents[strided.groups - 1].divisor;
}
__device__ __forceinline__ std::int64_t stepOf(const Strided& strided) {
  return strided.strides[strided.groups - 1];
}

}  // namespace loom::cuda
