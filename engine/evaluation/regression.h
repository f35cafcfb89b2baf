#pragma once
// How far numbers are off, in the unit of their column. The residual of a value is true - predicted.
#include <cstdint>
#include <span>
#include <vector>

namespace loom {

struct RegressionFigures {
  std::int64_t count = 0;
  double r2 = 0;               // 1 - sum (t - p)^2 / sum (t - mean t)^2; NaN where the truth is always the same
  double mae = 0;              // mean |t - p|
  double rmse = 0;             // sqrt(mean (t - p)^2)
  double bias = 0;             // mean (t - p)
  double least = 0, most = 0;  // of the truth
};

class Regression {
 public:
  explicit Regression(std::size_t values = 1) : m_values(values) {}
  // A sample: as many numbers each, finite.
  void add(std::span<const float> predicted, std::span<const float> truth);
  void merge(const Regression& other);
  std::size_t values() const { return m_values.size(); }
  RegressionFigures value(std::size_t index) const;
  // Over all values: the mean of those R^2 that are numbers; errors over all of them together.
  RegressionFigures all() const;

 private:
  // Chan, Golub and LeVeque (1979): means and squares that can be put together without loss.
  struct Sums {
    double count = 0, mean = 0, squares = 0;        // of the truth
    double absolute = 0, square = 0, residual = 0;  // of the residuals
    double least = 0, most = 0;
    void merge(const Sums& other);
  };
  static RegressionFigures figuresOf(const Sums& sums);
  std::vector<Sums> m_values;
};

}  // namespace loom
