#include "engine/evaluation/interval.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace loom {

ShareInterval wilson(std::int64_t right, std::int64_t all) {
  if (all <= 0) return {std::numeric_limits<double>::quiet_NaN(), 0, 1};
  constexpr double z = 1.959963984540054;
  const double n = static_cast<double>(all), p = static_cast<double>(right) / n, square = z * z;
  const double middle = p + square / (2 * n), reach = z * std::sqrt(p * (1 - p) / n + square / (4 * n * n));
  const double whole = 1 + square / n;
  // At the ends the bound is the end itself, whatever rounding makes of it.
  return {p, right == 0 ? 0 : std::max(0.0, (middle - reach) / whole),
          right == all ? 1 : std::min(1.0, (middle + reach) / whole)};
}

}  // namespace loom
