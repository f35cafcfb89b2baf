#pragma once
// Where the elements of one tensor, counted in memory order, stand in another: one that is repeated over it, cut out of
// it, or ordered in another way. The device's part is strided.cuh.
#include <cstdint>
#include <span>

namespace loom::cuda {

// Divides by multiplying and shifting (Granlund and Montgomery, 1994): exact for dividends below 2^32, which the device
// tells by itself; larger ones are divided.
struct Divisor {
  std::int64_t divisor = 1;
  std::uint32_t multiplier = 1;
  std::uint32_t shift = 0;
};
Divisor divisorOf(std::int64_t divisor);  // at least 1

inline constexpr int kMostGroups = 8;

// place(i) = sum over groups of (index of i in the group) * stride. Neighbouring axes whose strides follow from each
// other are one group, so most tensors have one or two; one at least.
struct Strided {
  int groups = 1;
  Divisor extents[kMostGroups];            // outermost first; the first is not asked for
  std::int64_t strides[kMostGroups] = {};  // elements

  // Of the innermost group: how many neighbours in a row step alike, and how far.
  std::int64_t run() const { return extents[groups - 1].divisor; }
  std::int64_t step() const { return strides[groups - 1]; }
};

struct Axis {
  std::int64_t extent = 1, stride = 0;
};
// Axes of extent 1 are left out. Throws Error(internal) for more than kMostGroups groups.
Strided stridedOf(std::span<const Axis> axes);

}  // namespace loom::cuda
