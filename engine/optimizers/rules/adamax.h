#pragma once
#include <cmath>

#include "engine/optimizers/rules/rule.h"

namespace loom {

// Slots: the mean m, and the largest gradient u, which fades.
struct AdamaxRule {
  static constexpr const char* kName = "adamax";
  static constexpr int kSlots = 2;
  double beta1, beta2, epsilon;

  template <class T>
  struct Constants {
    T scale, decay, rate, beta1, take1, beta2, epsilon;
  };

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    const double rate = s.learningRate * s.tensorScale;
    return {.scale = T(s.gradientScale),
            .decay = T(s.weightDecay),
            .rate = T(rate / (1 - std::pow(beta1, static_cast<double>(s.step)))),
            .beta1 = T(beta1),
            .take1 = T(1 - beta1),
            .beta2 = T(beta2),
            .epsilon = T(epsilon)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&slots)[kMostSlots]) {
    T &m = slots[0], &u = slots[1];
    const T gradient = c.scale * g + c.decay * w;
    m = c.beta1 * m + c.take1 * gradient;
    const T faded = c.beta2 * u, size = (gradient < 0 ? -gradient : gradient) + c.epsilon;
    u = faded < size ? size : faded;
    // With an epsilon of 0 a weight that has seen no gradient stays.
    w -= u > 0 ? c.rate * m / u : T(0);
  }
};

}  // namespace loom
