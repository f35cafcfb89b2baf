#include "engine/cpu/lowerings/broadcast.h"

namespace loom::cpu {

std::int64_t Broadcast::offsetOf(std::int64_t row) const {
  std::int64_t offset = 0;
  for (std::size_t i = extents.size(); i-- > 0;) {
    offset += row % extents[i] * strides[i];
    row /= extents[i];
  }
  return offset;
}

Broadcast broadcastOver(const Shape& large, const Shape& small) {
  const std::int64_t count = large.elements();
  if (large == small) return {Broadcast::Kind::same, 1, count};
  if (small.elements() == 1) return {Broadcast::Kind::scalar, 1, count};
  const auto rank = static_cast<std::int64_t>(large.rank());
  std::int64_t split = rank;  // behind it the shapes agree
  while (split > 0 && small[split - 1] == large[split - 1]) --split;
  std::int64_t leading = 1;
  for (std::int64_t axis = 0; axis < split; ++axis) leading *= small[axis];
  if (leading == 1) return {Broadcast::Kind::rows, count / small.elements(), small.elements()};
  Broadcast general{Broadcast::Kind::general, count / large[-1], large[-1]};
  std::vector<std::int64_t> strides(static_cast<std::size_t>(rank));
  std::int64_t stride = 1;
  for (std::int64_t axis = rank - 1; axis >= 0; --axis) {
    strides[static_cast<std::size_t>(axis)] = small[axis] == 1 ? 0 : stride;
    stride *= small[axis];
  }
  general.follows = small[-1] == large[-1];
  general.extents.assign(large.begin(), large.end() - 1);
  strides.pop_back();
  general.strides = std::move(strides);
  return general;
}

}  // namespace loom::cpu
