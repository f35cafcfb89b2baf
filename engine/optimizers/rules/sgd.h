#pragma once
#include "engine/optimizers/rules/rule.h"

namespace loom {

struct SgdRule {
  static constexpr const char* kName = "sgd";
  static constexpr int kSlots = 0;

  template <class T>
  struct Constants {
    T scale, decay, rate;
  };

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    return {.scale = T(s.gradientScale), .decay = T(s.weightDecay), .rate = T(s.learningRate) * T(s.tensorScale)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&)[kMostSlots]) {
    w -= c.rate * (c.scale * g + c.decay * w);
  }
};

}  // namespace loom
