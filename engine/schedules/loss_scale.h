#pragma once
// Dynamic loss scaling (Micikevicius et al., "Mixed precision training", 2018; the numbers are those of PyTorch's
// GradScaler): in f16 a gradient below 6e-8 is 0, so all of them are multiplied on their way back and divided where
// they arrive. A step whose gradients overflow changes nothing and is repeated at half the scale with the next batch.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/base/data_type.h"

namespace loom {

class LossScale {
 public:
  explicit LossScale(DataType precision) : m_active(precision == DataType::f16), m_value(m_active ? kFirst : 1) {}

  bool active() const { return m_active; }
  double value() const { return m_value; }
  std::int64_t finiteSteps() const { return m_finite; }  // since it changed last
  // A checkpoint's; what no scale can be leaves it as it is.
  void restore(double value, std::int64_t finiteSteps) {
    if (!m_active || !(value >= kLeast) || !(value <= kMost)) return;
    m_value = value;
    m_finite = finiteSteps;
  }

  // What it is behind so many steps of which none overflows.
  static double planned(double steps) {
    return std::min(kMost, kFirst * std::exp2(std::floor(steps / static_cast<double>(kStepsToGrow))));
  }

  // After a step whose gradients are all finite.
  void grow() {
    if (!m_active || ++m_finite < kStepsToGrow) return;
    m_finite = 0;
    if (m_value < kMost) m_value *= 2;
  }
  // After one with an overflow. False where no smaller scale would help: training has diverged.
  bool shrink() {
    if (!m_active || m_value <= kLeast) return false;
    m_value /= 2;
    m_finite = 0;
    return true;
  }

 private:
  static constexpr std::int64_t kStepsToGrow = 2000;
  static constexpr double kFirst = 0x1p16, kLeast = 1, kMost = 0x1p24;
  bool m_active;
  double m_value;
  std::int64_t m_finite = 0;
};

}  // namespace loom
