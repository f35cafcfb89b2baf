// dropout, random: functions of (seed, node, step, sample of the global batch, element), the same bits as on any
// machine.
#include "engine/cuda/kernels/noise.h"
#include "engine/cuda/kernels/philox.cuh"
#include "engine/cuda/kernels/strided.cuh"

namespace loom::cuda {

__device__ __forceinline__ NoiseBlock noiseBlock(const NoiseSource& noise, std::uint64_t low, std::uint64_t high) {
  return noiseBlock(noise.keyLow, noise.keyHigh, low, high);
}

__device__ __forceinline__ std::uint32_t wordOf(const NoiseBlock& block, std::int64_t index) {
  const std::uint32_t low = index % 2 != 0 ? block.word[1] : block.word[0];
  const std::uint32_t high = index % 2 != 0 ? block.word[3] : block.word[2];
  return index % 4 < 2 ? low : high;
}

// The upper half of row 0's counter: noiseCounter() in ops/noise.h. Those of the other rows follow it.
__device__ __forceinline__ std::uint64_t firstCounter(const NoiseSource& noise) {
  return (static_cast<std::uint64_t>(*noise.step) << 32) + static_cast<std::uint64_t>(*noise.firstSample);
}

template <class T>
__global__ void __launch_bounds__(256) dropout(DropoutArguments a) {
  constexpr int kCount = Pack<T>::kCount;
  const T* const x = static_cast<const T*>(a.x);
  T* const y = static_cast<T*>(a.y);
  const std::uint64_t first = firstCounter(a.noise);
  const auto one = [&](std::uint32_t word, T value) {
    return word >> 8 >= a.threshold ? fromFloat<T>(a.factor * toFloat(value)) : fromFloat<T>(0);
  };
  const bool inOrder = a.order.groups == 1;
  if (inOrder && a.size.divisor % kCount == 0) {  // whole blocks of four words in one pack
    for (std::int64_t i = firstOfThread(); i < a.count / kCount; i += threadsOfGrid()) {
      const std::int64_t row = divided(i * kCount, a.size), at = i * kCount - row * a.size.divisor;
      const std::uint64_t counter = first + static_cast<std::uint64_t>(row);
      Pack<T> pack = reinterpret_cast<const Pack<T>*>(x)[i];
      for (int b = 0; b < kCount / 4; ++b) {
        const NoiseBlock block = noiseBlock(a.noise, static_cast<std::uint64_t>(at / 4 + b), counter);
        for (int k = 0; k < 4; ++k) pack.at[4 * b + k] = one(block.word[k], pack.at[4 * b + k]);
      }
      reinterpret_cast<Pack<T>*>(y)[i] = pack;
    }
    return;
  }
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid()) {
    const std::int64_t row = divided(i, a.size), at = placeIn(a.order, i - row * a.size.divisor);
    const NoiseBlock block =
        noiseBlock(a.noise, static_cast<std::uint64_t>(at / 4), first + static_cast<std::uint64_t>(row));
    y[i] = one(wordOf(block, at), x[i]);
  }
}

// Box-Muller in f64, as ops/noise.h does it.
__device__ __forceinline__ float normalOf(std::uint32_t first, std::uint32_t second) {
  const double radius = (static_cast<double>(first) + 1.0) * 0x1p-32, turns = static_cast<double>(second) * 0x1p-32;
  return static_cast<float>(sqrt(-2.0 * log(radius)) * cospi(2 * turns));
}

__global__ void __launch_bounds__(256) randomNumbers(RandomArguments a) {
  const std::uint64_t first = firstCounter(a.noise);
  for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid()) {
    const std::int64_t row = divided(i, a.size), at = i - row * a.size.divisor, word = a.normal ? 2 * at : at;
    const NoiseBlock block =
        noiseBlock(a.noise, static_cast<std::uint64_t>(word / 4), first + static_cast<std::uint64_t>(row));
    a.y[i] = a.normal ? normalOf(wordOf(block, word), wordOf(block, word + 1))
                      : static_cast<float>(wordOf(block, word) >> 8) * 0x1p-24f;
  }
}

LOOM_KERNELS(noise, LOOM_KERNEL("dropout", dropout, DropoutArguments),
             LOOM_KERNEL_ONE("random", randomNumbers, RandomArguments))

}  // namespace loom::cuda
