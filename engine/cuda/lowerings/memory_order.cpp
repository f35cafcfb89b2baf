#include "engine/cuda/lowerings/memory_order.h"

#include <algorithm>

namespace loom::cuda {

Strided repeatedOver(const Shape& large, const Shape& small, const Layout& layout) {
  std::vector<Axis> axes(layout.size());
  std::int64_t stride = 1;
  for (std::size_t k = layout.size(); k-- > 0;) {
    axes[k] = {large[layout[k]], small[layout[k]] == 1 ? 0 : stride};
    stride *= small[layout[k]];
  }
  return stridedOf(axes);
}

Launch overPacks(std::int64_t count, DataType type) {
  return overElements(count, 16 / static_cast<std::int64_t>(bytesOf(type)));
}

std::int64_t axisOf(const Plan& plan, TensorId id, const Operation& operation, std::int64_t otherwise) {
  const std::int64_t axis = operation.attributes.integer("axis", otherwise);
  return axis < 0 ? axis + static_cast<std::int64_t>(plan.shape(id).rank()) : axis;
}

Around aroundAxis(const Shape& shape, const Layout& layout, std::int64_t axis) {
  const int place = placeOf(layout, axis);
  Around around;
  for (int k = 0; k < static_cast<int>(layout.size()); ++k)
    (k < place    ? around.outer
     : k == place ? around.extent
                  : around.inner) *= shape[layout[static_cast<std::size_t>(k)]];
  return around;
}

}  // namespace loom::cuda
