#pragma once
#include <cmath>

#include "engine/optimizers/rules/rule.h"

namespace loom {

// Slot: the sum of squares v, which begins with `initialSum`.
struct AdagradRule {
  static constexpr const char* kName = "adagrad";
  static constexpr int kSlots = 1;
  double epsilon, initialSum;

  template <class T>
  struct Constants {
    T scale, decay, rate, epsilon, initial;
  };

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    return {.scale = T(s.gradientScale),
            .decay = T(s.weightDecay),
            .rate = T(s.learningRate) * T(s.tensorScale),
            .epsilon = T(epsilon),
            .initial = s.step == 1 ? T(initialSum) : T(0)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&slots)[kMostSlots]) {
    T& v = slots[0];
    const T gradient = c.scale * g + c.decay * w;
    v += c.initial + gradient * gradient;
    w -= c.rate * gradient / (std::sqrt(v) + c.epsilon);
  }
};

}  // namespace loom
