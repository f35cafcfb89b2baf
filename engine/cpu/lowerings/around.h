#pragma once
#include "engine/base/shape.h"
#include "engine/program/layout.h"

namespace loom::cpu {

// A tensor in memory order as outer x extent x inner around one axis (from 0).
struct Around {
  std::int64_t outer = 1, extent = 1, inner = 1;
};

inline Around around(const Shape& shape, const Layout& layout, std::int64_t axis) {
  const Shape physical = physicalShape(shape, layout);
  const int place = placeOf(layout, axis);
  Around around;
  for (int i = 0; i < static_cast<int>(physical.rank()); ++i)
    (i < place ? around.outer : i == place ? around.extent : around.inner) *= physical[i];
  return around;
}

}  // namespace loom::cpu
