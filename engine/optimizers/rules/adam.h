#pragma once
#include <cmath>

#include "engine/optimizers/rules/rule.h"

namespace loom {

enum class DecayPlace { gradient, weight };

// Slots: the means m and v. With t counted from 1:
//   m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g²
//   w -= learning_rate / (1 - beta1^t) · m / (sqrt(v) / sqrt(1 - beta2^t) + epsilon)
// The corrections are computed in double.
struct AdamRule {
  static constexpr const char* kName = "adam";
  static constexpr int kSlots = 2;
  double beta1, beta2, epsilon;
  DecayPlace place;

  template <class T>
  struct Constants {
    T scale, coupledDecay, keepWeight, rate, beta1, take1, beta2, take2, inverseRoot, epsilon;
  };

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    const double steps = static_cast<double>(s.step);
    const double rate = s.learningRate * s.tensorScale;
    const bool coupled = place == DecayPlace::gradient;
    return {.scale = T(s.gradientScale),
            .coupledDecay = coupled ? T(s.weightDecay) : T(0),
            .keepWeight = coupled ? T(1) : T(1 - rate * s.weightDecay),
            .rate = T(rate / (1 - std::pow(beta1, steps))),
            .beta1 = T(beta1),
            .take1 = T(1 - beta1),
            .beta2 = T(beta2),
            .take2 = T(1 - beta2),
            .inverseRoot = T(1 / std::sqrt(1 - std::pow(beta2, steps))),
            .epsilon = T(epsilon)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&slots)[kMostSlots]) {
    T &m = slots[0], &v = slots[1];
    const T gradient = c.scale * g + c.coupledDecay * w;
    m = c.beta1 * m + c.take1 * gradient;
    v = c.beta2 * v + c.take2 * gradient * gradient;
    w = c.keepWeight * w - c.rate * m / (std::sqrt(v) * c.inverseRoot + c.epsilon);
  }
};

}  // namespace loom
