#include "engine/base/shape.h"

#include "engine/base/error.h"

namespace loom {

std::int64_t Shape::elements() const {
  std::int64_t product = 1;
  for (std::int64_t extent : m_extents) {
    if (__builtin_mul_overflow(product, extent, &product) || product > (std::int64_t{1} << 62))
      throwError(ErrorCode::badProject, "a tensor of shape {} has more elements than can be counted", toString());
  }
  return product;
}

Shape Shape::prepended(std::int64_t extent) const {
  std::vector<std::int64_t> extents{extent};
  extents.insert(extents.end(), m_extents.begin(), m_extents.end());
  return Shape(std::move(extents));
}

Shape Shape::withoutFirst() const {
  if (m_extents.empty()) throwError(ErrorCode::internal, "a scalar has no first extent to leave out");
  return Shape(std::vector<std::int64_t>(m_extents.begin() + 1, m_extents.end()));
}

std::string Shape::toString() const {
  if (m_extents.empty()) return "scalar";
  std::string text;
  for (std::int64_t extent : m_extents) text += (text.empty() ? "" : "×") + std::to_string(extent);
  return text;
}

}  // namespace loom
