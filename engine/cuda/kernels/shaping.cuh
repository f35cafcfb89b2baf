// concatenate, slice, slice_gradient: numbers on their way to other places.
#include "engine/cuda/kernels/shaping.h"
#include "engine/cuda/kernels/strided.cuh"

namespace loom::cuda {

struct alignas(16) SixteenBytes {
  std::uint64_t low, high;
};

// Calls work(a value of the unit's type).
template <class Work>
__device__ __forceinline__ void inUnits(int unit, const Work& work) {
  switch (unit) {
    case 16:
      return work(SixteenBytes{});
    case 8:
      return work(std::uint64_t{});
    case 4:
      return work(std::uint32_t{});
    case 2:
      return work(std::uint16_t{});
    default:
      return work(std::uint8_t{});
  }
}

__global__ void __launch_bounds__(256) copyParts(CopyArguments a) {
  const CopyArguments::Part& part = a.parts[blockIdx.y];
  inUnits(a.unit, [&](auto unit) {
    using Unit = decltype(unit);
    const Unit* const from = reinterpret_cast<const Unit*>(part.from);
    Unit* const to = reinterpret_cast<Unit*>(part.to);
    for (std::int64_t i = firstOfThread(); i < part.count; i += threadsOfGrid())
      to[placeIn(part.target, i)] = from[placeIn(part.source, i)];
  });
}

__global__ void __launch_bounds__(256) scatterSlice(ScatterArguments a) {
  inUnits(a.unit, [&](auto unit) {
    using Unit = decltype(unit);
    const Unit* const from = reinterpret_cast<const Unit*>(a.from);
    Unit* const to = reinterpret_cast<Unit*>(a.to);
    for (std::int64_t i = firstOfThread(); i < a.count; i += threadsOfGrid()) {
      const std::int64_t row = divided(i, a.inner), outer = divided(row, a.extent);
      const std::int64_t behind = row - outer * a.extent.divisor - a.start;
      const std::int64_t k = behind < 0 ? -1 : divided(behind, a.step);
      Unit value{};
      if (k >= 0 && k < a.length && k * a.step.divisor == behind)
        value = from[(outer * a.length + k) * a.inner.divisor + (i - row * a.inner.divisor)];
      to[i] = value;
    }
  });
}

LOOM_KERNELS(shaping, LOOM_KERNEL_ONE("copy_parts", copyParts, CopyArguments),
             LOOM_KERNEL_ONE("scatter_slice", scatterSlice, ScatterArguments))

}  // namespace loom::cuda
