#pragma once
#include <cmath>

#include "engine/optimizers/rules/rule.h"

namespace loom {

// Where the zeros with which m and v begin are made up for: nowhere, in the direction, in the step's length alone.
enum class LambCorrection { none, direction, length };

// Slots: Adam's means m and v, which gather() brings up to date.
struct LambRule {
  static constexpr const char* kName = "lamb";
  static constexpr int kSlots = 2;
  double beta1, beta2, epsilon, low, high;  // bounds of the weights' length
  double leastRatio, mostRatio;
  LambCorrection correction;
  bool onlyDecayed;  // has a ratio

  LOOM_DEVICE_INLINE double correction1(double steps) const { return 1 / (1 - std::pow(beta1, steps)); }
  LOOM_DEVICE_INLINE double correction2(double steps) const { return 1 / std::sqrt(1 - std::pow(beta2, steps)); }

  template <class T>
  struct Constants {
    T scale, decay, rate, beta1, take1, beta2, take2, correction1, correction2, epsilon;
  };

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    const double steps = static_cast<double>(s.step);
    const bool inDirection = correction == LambCorrection::direction;
    const double length = correction == LambCorrection::length ? correction1(steps) / correction2(steps) : 1;
    return {.scale = T(s.gradientScale),
            .decay = T(s.weightDecay),
            .rate = T(s.learningRate) * T(s.tensorScale) * T(length),
            .beta1 = T(beta1),
            .take1 = T(1 - beta1),
            .beta2 = T(beta2),
            .take2 = T(1 - beta2),
            .correction1 = inDirection ? T(correction1(steps)) : T(1),
            .correction2 = inDirection ? T(correction2(steps)) : T(1),
            .epsilon = T(epsilon)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE T direction(const Constants<T>& c, T w, T m, T v) {
    return c.correction1 * m / (std::sqrt(v) * c.correction2 + c.epsilon) + c.decay * w;
  }

  template <class T>
  static LOOM_DEVICE_INLINE UpdateSums gather(const Constants<T>& c, T w, T g, T (&slots)[kMostSlots]) {
    T &m = slots[0], &v = slots[1];
    const T gradient = c.scale * g;
    m = c.beta1 * m + c.take1 * gradient;
    v = c.beta2 * v + c.take2 * gradient * gradient;
    const T u = direction(c, w, m, v);
    return {static_cast<double>(w) * w, static_cast<double>(u) * u};
  }

  LOOM_DEVICE_INLINE double tensorScale(const UpdateSums& sums, const UpdateScalars& s) const {
    const double weight = std::sqrt(sums.weight), length = std::sqrt(sums.direction);
    const double bounded = weight < low ? low : high < weight ? high : weight;
    if (sums.weight == 0 || length <= epsilon || (onlyDecayed && s.weightDecay == 0)) return 1;
    const double ratio = bounded / length;
    return ratio < leastRatio ? leastRatio : mostRatio < ratio ? mostRatio : ratio;
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T, T (&slots)[kMostSlots]) {
    w -= c.rate * direction(c, w, slots[0], slots[1]);
  }
};

}  // namespace loom
