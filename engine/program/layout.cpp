#include "engine/program/layout.h"

#include <algorithm>
#include <numeric>

namespace loom {

Layout plainLayout(std::size_t rank) {
  Layout layout(rank);
  std::iota(layout.begin(), layout.end(), 0);
  return layout;
}

Layout channelsLast(std::size_t rank) {
  return rank < 3 ? plainLayout(rank) : lastAxis(rank, 1);
}

Layout lastAxis(std::size_t rank, int axis) {
  Layout layout = plainLayout(rank);
  layout.erase(layout.begin() + axis);
  layout.push_back(axis);
  return layout;
}

Shape physicalShape(const Shape& shape, const Layout& layout) {
  std::vector<std::int64_t> extents;
  for (int axis : layout) extents.push_back(shape[axis]);
  return Shape(std::move(extents));
}

int placeOf(const Layout& layout, std::int64_t axis) {
  if (axis < 0) axis += static_cast<std::int64_t>(layout.size());
  return static_cast<int>(std::find(layout.begin(), layout.end(), static_cast<int>(axis)) - layout.begin());
}

bool sameMemory(const Shape& shape, const Layout& a, const Layout& b) {
  std::size_t i = 0, j = 0;
  for (;;) {
    while (i < a.size() && shape[a[i]] == 1) ++i;
    while (j < b.size() && shape[b[j]] == 1) ++j;
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (a[i++] != b[j++]) return false;
  }
}

bool isPlain(const Shape& shape, const Layout& layout) {
  return sameMemory(shape, layout, plainLayout(shape.rank()));
}

std::string layoutName(const Shape& shape, const Layout& layout) {
  if (isPlain(shape, layout)) return "plain";
  if (sameMemory(shape, layout, channelsLast(shape.rank()))) return "channels-last";
  std::string name;
  for (int axis : layout) name += std::to_string(axis);
  return name;
}

}  // namespace loom
