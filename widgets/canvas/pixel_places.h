#pragma once
// Where something stands on pixels. By the same rule wherever the drawing has been scrolled to: what is painted anew
// beside what was scrolled must lie on the same pixels, and a place between two of them must not go to one now and to
// the other then.
#include <cmath>

namespace loom {

inline double onPixel(double at) {
  return std::floor(at + 0.5 + 1e-6);
}
inline double onHalfPixel(double at) {
  return onPixel(2 * at) / 2;
}

}  // namespace loom
