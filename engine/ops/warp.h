#pragma once
// Where a pixel of the op `warp` is read: an affine map of the pixels' middles, before it possibly a bend along the
// radius, and the four neighbours there. The same in double for the reference, in float on machines.
#include "engine/base/device_inline.h"

namespace loom {

inline constexpr int kAffineNumbers = 6, kBentNumbers = 7;  // of a map

// Of one image, of `numbers` t: x = t[0] u + t[1] v + t[2], y = t[3] u + t[4] v + t[5], all counted from the middles of
// the images. With kBentNumbers, (u, v) is multiplied by (1 + d r^2) / (1 + d) before, d = t[6] > -1, r the distance
// from the middle where the middle of each edge has 1: a barrel (d < 0) or a pincushion, which leaves those alone.
template <class Real>
struct WarpTaps {
  int places[4];  // pixel in the input, row by row; -1: none, what lies outside is 0
  Real weights[4];
};

template <class Real>
LOOM_DEVICE_INLINE WarpTaps<Real> warpTaps(const Real* t, int numbers, int row, int column, int outRows, int outColumns,
                                           int rows, int columns) {
  Real u = static_cast<Real>(column) - static_cast<Real>(outColumns - 1) / 2,
       v = static_cast<Real>(row) - static_cast<Real>(outRows - 1) / 2;
  if (numbers == kBentNumbers) {
    const Real acrossU = 2 * u / static_cast<Real>(outColumns), acrossV = 2 * v / static_cast<Real>(outRows);
    const Real bend = (1 + t[6] * (acrossU * acrossU + acrossV * acrossV)) / (1 + t[6]);
    u *= bend;
    v *= bend;
  }
  Real x = t[0] * u + t[1] * v + t[2] + static_cast<Real>(columns - 1) / 2,
       y = t[3] * u + t[4] * v + t[5] + static_cast<Real>(rows - 1) / 2;
  // A NaN and what is far away read nothing.
  const bool near = x > -1 && y > -1 && x < static_cast<Real>(columns) && y < static_cast<Real>(rows);
  if (!near) x = y = -1;
  const int left = static_cast<int>(x + 1) - 1, top = static_cast<int>(y + 1) - 1;  // rounded down, also below 0
  const Real right = x - static_cast<Real>(left), below = y - static_cast<Real>(top);
  WarpTaps<Real> taps;
  for (int k = 0; k < 4; ++k) {
    const int atRow = top + k / 2, atColumn = left + k % 2;
    const bool inside = near && atRow >= 0 && atRow < rows && atColumn >= 0 && atColumn < columns;
    taps.places[k] = inside ? atRow * columns + atColumn : -1;
    taps.weights[k] = (k / 2 == 1 ? below : 1 - below) * (k % 2 == 1 ? right : 1 - right);
  }
  return taps;
}

}  // namespace loom
