#pragma once
#include <cmath>

#include "engine/optimizers/rules/adam.h"

namespace loom {

// Slots: Adam's means m and v. With mu_t = beta1 (1 - q^t / 2), q = 0.96^momentumDecay, and P_t = mu_1 ... mu_t:
//   w -= learning_rate · ((1 - mu_t) / (1 - P_t) · g + mu_{t+1} / (1 - P_{t+1}) · m) / (sqrt(v̂) + epsilon)
// P is a function of t alone, so that a resumed run needs no state of it.
struct NAdamRule {
  static constexpr const char* kName = "nadam";
  static constexpr int kSlots = 2;
  double beta1, beta2, epsilon, momentumDecay;
  DecayPlace place;

  template <class T>
  struct Constants {
    T scale, coupledDecay, keepWeight, rateOfGradient, rateOfMean, beta1, take1, beta2, take2, inverseRoot, epsilon;
  };

  LOOM_DEVICE_INLINE double momentumAt(double t) const { return beta1 * (1 - 0.5 * std::pow(0.96, t * momentumDecay)); }

  // mu_1 ... mu_t in time that does not grow with t: ln(1 - q^i / 2) is a power series in q^i / 2, and each power of q
  // sums over i as a geometric one. Its terms halve: 64 are more than a double holds.
  LOOM_DEVICE_INLINE double productUpTo(double t) const {
    const double lnQ = momentumDecay * std::log(0.96);
    double sum = 0, half = 1;
    for (int k = 1; k <= 64; ++k) {
      half *= 0.5;
      const double powers =
          lnQ == 0 ? t : std::exp(k * lnQ) * std::expm1(k * t * lnQ) / std::expm1(k * lnQ);  // sum of q^(k i)
      sum -= half / k * powers;
    }
    return std::pow(beta1, t) * std::exp(sum);
  }

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    const double t = static_cast<double>(s.step), rate = s.learningRate * s.tensorScale;
    const double product = productUpTo(t), next = momentumAt(t + 1);
    const bool coupled = place == DecayPlace::gradient;
    return {.scale = T(s.gradientScale),
            .coupledDecay = coupled ? T(s.weightDecay) : T(0),
            .keepWeight = coupled ? T(1) : T(1 - rate * s.weightDecay),
            .rateOfGradient = T(rate * (1 - momentumAt(t)) / (1 - product)),
            .rateOfMean = T(rate * next / (1 - product * next)),
            .beta1 = T(beta1),
            .take1 = T(1 - beta1),
            .beta2 = T(beta2),
            .take2 = T(1 - beta2),
            .inverseRoot = T(1 / std::sqrt(1 - std::pow(beta2, t))),
            .epsilon = T(epsilon)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&slots)[kMostSlots]) {
    T &m = slots[0], &v = slots[1];
    const T gradient = c.scale * g + c.coupledDecay * w;
    m = c.beta1 * m + c.take1 * gradient;
    v = c.beta2 * v + c.take2 * gradient * gradient;
    const T step = c.rateOfGradient * gradient + c.rateOfMean * m;
    w = c.keepWeight * w - step / (std::sqrt(v) * c.inverseRoot + c.epsilon);
  }
};

}  // namespace loom
