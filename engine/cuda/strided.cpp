#include "engine/cuda/kernels/strided.h"

#include <bit>

#include "engine/base/error.h"

namespace loom::cuda {

Divisor divisorOf(std::int64_t divisor) {
  Divisor result{.divisor = divisor};
  const auto wide = static_cast<std::uint64_t>(divisor);
  if (wide >> 32 != 0) return result;  // a dividend below 2^32 gives 0 then, which the device asks for by `divisor`
  result.shift = wide == 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(wide - 1));
  result.multiplier =
      static_cast<std::uint32_t>(((std::uint64_t{1} << 32) * ((std::uint64_t{1} << result.shift) - wide)) / wide + 1);
  return result;
}

Strided stridedOf(std::span<const Axis> axes) {
  Strided result;
  result.groups = 0;
  std::int64_t extents[kMostGroups] = {};
  for (const Axis& axis : axes) {
    if (axis.extent == 1) continue;
    const int last = result.groups - 1;
    if (last >= 0 && result.strides[last] == axis.extent * axis.stride) {
      extents[last] *= axis.extent;
      result.strides[last] = axis.stride;
      continue;
    }
    if (result.groups == kMostGroups)
      throwError(ErrorCode::internal, "a tensor of {} axes is ordered in more than {} groups of its own", axes.size(),
                 kMostGroups);
    extents[result.groups] = axis.extent;
    result.strides[result.groups++] = axis.stride;
  }
  if (result.groups == 0) extents[result.groups++] = 1;
  for (int k = 0; k < result.groups; ++k) result.extents[k] = divisorOf(extents[k]);
  return result;
}

}  // namespace loom::cuda
