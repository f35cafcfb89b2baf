#pragma once
#include <cmath>

#include "engine/optimizers/rules/rule.h"

namespace loom {

// RMSprop that becomes momentum. Slots: the mean square v, and the buffer b.
struct RmsPropWarmupRule {
  static constexpr const char* kName = "rmsprop_warmup";
  static constexpr int kSlots = 2;
  static constexpr bool kFollowsEpochs = true;
  double momentum, keep, epsilon, rmsRate, center, period;
  bool literal;  // the paper's printed line, cut off at 1

  template <class T>
  struct Constants {
    T scale, decay, rate, momentum, keep, take, epsilon, plain, divided;
  };

  // Of plain momentum: half of an exponential that reaches 1/2 at the center, then a line.
  LOOM_DEVICE_INLINE double share(double epoch) const {
    const double from = epoch - center;
    if (from < 0) return 0.5 * std::exp(2 * from / period);
    const double line = 0.5 + (literal ? 2 : 1) * from / period;
    return line < 1 ? line : 1;
  }

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    const double plain = share(s.epoch), rate = s.learningRate * s.tensorScale;
    return {.scale = T(s.gradientScale),
            .decay = T(s.weightDecay),
            .rate = T(rate),
            .momentum = T(momentum),
            .keep = T(keep),
            .take = T(1 - keep),
            .epsilon = T(epsilon),
            .plain = T(plain),
            .divided = rate > 0 ? T((1 - plain) * rmsRate / rate) : T(0)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&slots)[kMostSlots]) {
    T &v = slots[0], &b = slots[1];
    const T gradient = c.scale * g + c.decay * w;
    v = c.keep * v + c.take * gradient * gradient;
    b = c.momentum * b + (c.plain + c.divided / (std::sqrt(v) + c.epsilon)) * gradient;
    w -= c.rate * b;
  }
};

}  // namespace loom
