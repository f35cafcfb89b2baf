#pragma once
#include "engine/optimizers/rules/rule.h"

namespace loom {

// Slot: the buffer b.
struct NesterovRule {
  static constexpr const char* kName = "nesterov";
  static constexpr int kSlots = 1;
  double momentum;

  template <class T>
  struct Constants {
    T scale, decay, rate, momentum;
  };

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    return {.scale = T(s.gradientScale),
            .decay = T(s.weightDecay),
            .rate = T(s.learningRate) * T(s.tensorScale),
            .momentum = T(momentum)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&slots)[kMostSlots]) {
    T& b = slots[0];
    const T gradient = c.scale * g + c.decay * w;
    b = c.momentum * b + gradient;
    w -= c.rate * (gradient + c.momentum * b);
  }
};

}  // namespace loom
