#pragma once
#include <cmath>

#include "engine/optimizers/rules/adam.h"

namespace loom {

// Slots: Adam's means m and v. With R = 2 / (1 - beta2) - 1 and r = R - 2 t beta2^t / (1 - beta2^t):
//   r > 5: w -= learning_rate · m̂ · sqrt((r-4)(r-2)R / ((R-4)(R-2)r)) · sqrt(1 - beta2^t) / (sqrt(v) + epsilon)
//   else:  w -= learning_rate · m̂
struct RAdamRule {
  static constexpr const char* kName = "radam";
  static constexpr int kSlots = 2;
  double beta1, beta2, epsilon;
  DecayPlace place;

  template <class T>
  struct Constants {
    T scale, coupledDecay, keepWeight, rate, beta1, take1, beta2, take2, epsilon;
    T divides;  // by the root of v: 1 or 0
  };

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    const double t = static_cast<double>(s.step), rate = s.learningRate * s.tensorScale;
    const double power = std::pow(beta2, t), most = 2 / (1 - beta2) - 1, length = most - 2 * t * power / (1 - power);
    const bool divides = length > 5;
    const double rectified =
        divides
            ? std::sqrt((length - 4) * (length - 2) * most / ((most - 4) * (most - 2) * length)) * std::sqrt(1 - power)
            : 1;
    const bool coupled = place == DecayPlace::gradient;
    return {.scale = T(s.gradientScale),
            .coupledDecay = coupled ? T(s.weightDecay) : T(0),
            .keepWeight = coupled ? T(1) : T(1 - rate * s.weightDecay),
            .rate = T(rate / (1 - std::pow(beta1, t)) * rectified),
            .beta1 = T(beta1),
            .take1 = T(1 - beta1),
            .beta2 = T(beta2),
            .take2 = T(1 - beta2),
            .epsilon = T(epsilon),
            .divides = divides ? T(1) : T(0)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&slots)[kMostSlots]) {
    T &m = slots[0], &v = slots[1];
    const T gradient = c.scale * g + c.coupledDecay * w;
    m = c.beta1 * m + c.take1 * gradient;
    v = c.beta2 * v + c.take2 * gradient * gradient;
    const T below = c.divides > 0 ? std::sqrt(v) + c.epsilon : T(1);
    w = c.keepWeight * w - c.rate * m / below;
  }
};

}  // namespace loom
