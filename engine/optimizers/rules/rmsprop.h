#pragma once
#include <cmath>

#include "engine/optimizers/rules/rule.h"

namespace loom {

// Slot: the mean square v.
struct RmsPropRule {
  static constexpr const char* kName = "rmsprop";
  static constexpr int kSlots = 1;
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
    T& v = slots[0];
    const T gradient = c.scale * g + c.decay * w;
    v = c.keep * v + c.take * gradient * gradient;
    w -= c.rate * gradient / (std::sqrt(v) + c.epsilon);
  }
};

// Slots: v, and the buffer b that gathers the divided gradients.
struct RmsPropMomentumRule {
  static constexpr const char* kName = "rmsprop_momentum";
  static constexpr int kSlots = 2;
  double keep, epsilon, momentum;

  template <class T>
  struct Constants {
    T scale, decay, rate, keep, take, epsilon, momentum;
  };

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    return {.scale = T(s.gradientScale),
            .decay = T(s.weightDecay),
            .rate = T(s.learningRate) * T(s.tensorScale),
            .keep = T(keep),
            .take = T(1 - keep),
            .epsilon = T(epsilon),
            .momentum = T(momentum)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&slots)[kMostSlots]) {
    T &v = slots[0], &b = slots[1];
    const T gradient = c.scale * g + c.decay * w;
    v = c.keep * v + c.take * gradient * gradient;
    b = c.momentum * b + gradient / (std::sqrt(v) + c.epsilon);
    w -= c.rate * b;
  }
};

}  // namespace loom
