#include "widgets/chart/smoothing.h"

#include <cmath>

namespace loom {

std::vector<double> smooth(const std::vector<double>& x, const std::vector<double>& y, double weight, double axisSpan,
                           const std::vector<double>& weights) {
  const std::size_t count = x.size();
  if (weight <= 0 || count < 3 || !(axisSpan > 0)) return y;
  const double rate = std::log(weight) * 1000 / axisSpan;  // at most zero
  const auto mass = [&](std::size_t i) { return weights.empty() ? 1.0 : weights[i]; };
  // What lies before i, decayed to i; without i itself.
  std::vector<double> sum(count), total(count);
  double value = 0, norm = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) {
      const double decay = std::exp(rate * (x[i] - x[i - 1]));
      value = (value + mass(i - 1) * y[i - 1]) * decay;
      norm = (norm + mass(i - 1)) * decay;
    }
    sum[i] = value;
    total[i] = norm;
  }
  std::vector<double> result(count);
  value = norm = 0;
  for (std::size_t i = count; i-- > 0;) {
    if (i + 1 < count) {
      const double decay = std::exp(rate * (x[i + 1] - x[i]));
      value = (value + mass(i + 1) * y[i + 1]) * decay;
      norm = (norm + mass(i + 1)) * decay;
    }
    result[i] = (sum[i] + value + mass(i) * y[i]) / (total[i] + norm + mass(i));
  }
  return result;
}

}  // namespace loom
