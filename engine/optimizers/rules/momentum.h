#pragma once
#include "engine/optimizers/rules/rule.h"

namespace loom {

// Slot: the buffer b.
struct MomentumRule {
  static constexpr const char* kName = "momentum";
  static constexpr int kSlots = 1;
  double momentum, dampening;

  template <class T>
  struct Constants {
    T scale, decay, rate, keep, take;
  };

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    const bool first = s.step == 1;  // the first buffer is a copy of the gradient, not (1 - dampening) of it
    return {.scale = T(s.gradientScale),
            .decay = T(s.weightDecay),
            .rate = T(s.learningRate) * T(s.tensorScale),
            .keep = first ? T(0) : T(momentum),
            .take = first ? T(1) : T(1 - dampening)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&slots)[kMostSlots]) {
    T& b = slots[0];
    b = c.keep * b + c.take * (c.scale * g + c.decay * w);
    w -= c.rate * b;
  }
};

}  // namespace loom
