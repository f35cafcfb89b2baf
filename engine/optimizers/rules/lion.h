#pragma once
#include "engine/optimizers/rules/rule.h"

namespace loom {

// Slot: the mean m, of which the step takes only the sign.
struct LionRule {
  static constexpr const char* kName = "lion";
  static constexpr int kSlots = 1;
  double beta1, beta2;

  template <class T>
  struct Constants {
    T scale, keepWeight, rate, beta1, take1, beta2, take2;
  };

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    const double rate = s.learningRate * s.tensorScale;
    return {.scale = T(s.gradientScale),
            .keepWeight = T(1 - rate * s.weightDecay),
            .rate = T(rate),
            .beta1 = T(beta1),
            .take1 = T(1 - beta1),
            .beta2 = T(beta2),
            .take2 = T(1 - beta2)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&slots)[kMostSlots]) {
    T& m = slots[0];
    const T gradient = c.scale * g, mixed = c.beta1 * m + c.take1 * gradient;
    const T sign = mixed > 0 ? T(1) : mixed < 0 ? T(-1) : T(0);
    w = c.keepWeight * w - c.rate * sign;
    m = c.beta2 * m + c.take2 * gradient;
  }
};

}  // namespace loom
