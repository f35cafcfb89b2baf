#include "engine/base/philox.h"

#include <cmath>
#include <numbers>

namespace loom {

double Philox::normal(std::uint64_t index) const {
  const Block words = (*this)(index);
  const double radius = (static_cast<double>(words[0]) + 1.0) * 0x1p-32;  // (0, 1]: its logarithm is finite
  const double angle = static_cast<double>(words[1]) * 0x1p-32;
  return std::sqrt(-2.0 * std::log(radius)) * std::cos(2.0 * std::numbers::pi * angle);
}

std::uint64_t Philox::below(std::uint64_t bound, std::uint64_t index) const {
  // Rejection over 64-bit words; the attempt number is the counter's upper half.
  const std::uint64_t limit = bound * (~std::uint64_t{0} / bound);
  for (std::uint64_t attempt = 0;; ++attempt) {
    const Block words = (*this)(index, attempt);
    const std::uint64_t value = (std::uint64_t{words[1]} << 32) | words[0];
    if (value < limit) return value % bound;
  }
}

}  // namespace loom
