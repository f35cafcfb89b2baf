#pragma once
#include <cmath>

#include "engine/optimizers/rules/rule.h"

namespace loom {

// Slots: the mean square v of the gradients, and that of the steps, u.
struct AdadeltaRule {
  static constexpr const char* kName = "adadelta";
  static constexpr int kSlots = 2;
  double keep, epsilon;

  template <class T>
  struct Constants {
    T scale, decay, rate, keep, take, epsilon;
  };

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    return {.scale = T(s.gradientScale),
            .decay = T(s.weightDecay),
            .rate = T(s.learningRate) * T(s.tensorScale),
            .keep = T(keep),
            .take = T(1 - keep),
            .epsilon = T(epsilon)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&slots)[kMostSlots]) {
    T &v = slots[0], &u = slots[1];
    const T gradient = c.scale * g + c.decay * w;
    v = c.keep * v + c.take * gradient * gradient;
    const T step = std::sqrt(u + c.epsilon) / std::sqrt(v + c.epsilon) * gradient;
    u = c.keep * u + c.take * step * step;
    w -= c.rate * step;
  }
};

}  // namespace loom
