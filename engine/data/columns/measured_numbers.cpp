#include "engine/data/columns/measured_numbers.h"

#include <algorithm>
#include <cmath>

namespace loom {

void RunningMoments::add(const std::vector<double>& values) {
  double count = 0, sum = 0;
  for (const double value : values)
    if (!std::isnan(value)) {
      ++count;
      sum += value;
    }
  if (count == 0) return;
  const double mean = sum / count;
  double squares = 0;
  for (const double value : values)
    if (!std::isnan(value)) squares += (value - mean) * (value - mean);
  const double total = m_count + count, difference = mean - m_mean;
  m_squares += squares + difference * difference * m_count * count / total;
  m_mean += difference * count / total;
  m_count = total;
}

double RunningMoments::deviation() const {
  return m_count > 0 ? std::sqrt(m_squares / m_count) : 0;
}

void CollectedNumbers::add(const std::vector<double>& values) {
  for (const double value : values) {
    if (std::isnan(value) || m_count++ % m_stride != 0) continue;
    m_values.push_back(static_cast<float>(value));
    if (m_values.size() < kMost) continue;
    for (std::size_t i = 0; i < m_values.size() / 2; ++i) m_values[i] = m_values[2 * i];
    m_values.resize(m_values.size() / 2);
    m_stride *= 2;
  }
  m_sorted = false;
}

double CollectedNumbers::quantile(double share) {
  if (!m_sorted) std::sort(m_values.begin(), m_values.end());
  m_sorted = true;
  const double place = share * static_cast<double>(m_values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const auto above = std::min(below + 1, m_values.size() - 1);
  const double part = place - static_cast<double>(below);
  return m_values[below] + part * (static_cast<double>(m_values[above]) - m_values[below]);
}

}  // namespace loom
