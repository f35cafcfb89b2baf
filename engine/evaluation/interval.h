#pragma once
// What a share that was counted tells of the true one.
#include <cstdint>

namespace loom {

struct ShareInterval {
  double share = 0, low = 0, high = 1;  // 0 ... 1
};

// Wilson's interval of `right` out of `all` at 95 %, without correction for continuity (Wilson 1927):
//   (p + z^2 / 2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n),  p = right / n, z = 1.959964
// Of none: NaN within 0 and 1.
ShareInterval wilson(std::int64_t right, std::int64_t all);

}  // namespace loom
