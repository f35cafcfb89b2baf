#pragma once
// What is measured on the numbers of a column: mean and deviation of all, order statistics of at most a million.
#include <cstdint>
#include <vector>

#include "engine/data/columns/column_step.h"

namespace loom {

// Mean and deviation of the population, block by block (Chan, Golub, LeVeque, "Updating formulae", 1979). Missing ones
// do not count.
class RunningMoments {
 public:
  void add(const std::vector<double>& values);
  std::int64_t count() const { return static_cast<std::int64_t>(m_count); }
  double mean() const { return m_mean; }
  double deviation() const;

 private:
  double m_count = 0, m_mean = 0, m_squares = 0;
};

// Beyond kMost values every second one is dropped, again and again: what is left is spread evenly over the file.
class CollectedNumbers {
 public:
  static constexpr std::size_t kMost = 1 << 20;
  void add(const std::vector<double>& values);
  std::int64_t count() const { return m_count; }
  // Between the two nearest values where there is none, as numpy.percentile(). `share` of 0 ... 1; needs a value.
  double quantile(double share);

 private:
  std::vector<float> m_values;
  std::int64_t m_count = 0, m_stride = 1;
  bool m_sorted = false;
};

}  // namespace loom
