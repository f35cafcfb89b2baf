#include "engine/evaluation/regression.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace loom {

void Regression::Sums::merge(const Sums& other) {
  if (other.count == 0) return;
  if (count == 0) {
    *this = other;
    return;
  }
  const double all = count + other.count, apart = other.mean - mean;
  squares += other.squares + apart * apart * count * other.count / all;
  mean += apart * other.count / all;
  count = all;
  absolute += other.absolute;
  square += other.square;
  residual += other.residual;
  least = std::min(least, other.least);
  most = std::max(most, other.most);
}

void Regression::add(std::span<const float> predicted, std::span<const float> truth) {
  for (std::size_t i = 0; i < m_values.size(); ++i) {
    const double t = truth[i], residual = t - predicted[i];
    m_values[i].merge({.count = 1,
                       .mean = t,
                       .squares = 0,
                       .absolute = std::abs(residual),
                       .square = residual * residual,
                       .residual = residual,
                       .least = t,
                       .most = t});
  }
}

void Regression::merge(const Regression& other) {
  for (std::size_t i = 0; i < m_values.size(); ++i) m_values[i].merge(other.m_values[i]);
}

RegressionFigures Regression::figuresOf(const Sums& sums) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  if (sums.count == 0) return {.r2 = none, .mae = none, .rmse = none, .bias = none, .least = none, .most = none};
  return {.count = static_cast<std::int64_t>(sums.count),
          .r2 = sums.squares > 0 ? 1 - sums.square / sums.squares : none,
          .mae = sums.absolute / sums.count,
          .rmse = std::sqrt(sums.square / sums.count),
          .bias = sums.residual / sums.count,
          .least = sums.least,
          .most = sums.most};
}

RegressionFigures Regression::value(std::size_t index) const {
  return figuresOf(m_values[index]);
}

RegressionFigures Regression::all() const {
  Sums together;
  double r2 = 0;
  int explained = 0;
  for (const Sums& each : m_values) {
    together.merge(each);
    const RegressionFigures figures = figuresOf(each);
    if (std::isfinite(figures.r2)) r2 += figures.r2, ++explained;
  }
  RegressionFigures figures = figuresOf(together);
  if (!m_values.empty()) figures.count = static_cast<std::int64_t>(m_values.front().count);
  figures.r2 = explained > 0 ? r2 / explained : std::numeric_limits<double>::quiet_NaN();
  return figures;
}

}  // namespace loom
