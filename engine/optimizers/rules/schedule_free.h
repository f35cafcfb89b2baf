#pragma once
#include <cmath>

#include "engine/optimizers/rules/rule.h"

namespace loom {

// Schedule-Free (Defazio et al. 2024). The weight is y, at which gradients are taken; the first slot is z, which the
// rule moves, and x = (y - (1 - share) z) / share is what is evaluated. With c this step's share of the average:
//   z ← z - learning_rate d;  x ← (1 - c) x + c z;  y ← (1 - share) z + share x
// share · x is kept as it is, so that nothing is divided.
template <class T>
struct ScheduleFreeConstants {
  T scale, decay, rate, share, keep, take;  // keep = 1 - c, take = share · c
};
template <class T>
LOOM_DEVICE_INLINE ScheduleFreeConstants<T> scheduleFreeConstants(const UpdateScalars& s, double share) {
  return {.scale = T(s.gradientScale),
          .decay = T(s.weightDecay),
          .rate = T(s.learningRate),
          .share = T(share),
          .keep = T(1 - s.epoch),
          .take = T(share * s.epoch)};
}
template <class T>
LOOM_DEVICE_INLINE void scheduleFreeStep(const ScheduleFreeConstants<T>& c, T& y, T& z, T direction) {
  const T shared = y - (1 - c.share) * z;
  z -= c.rate * direction;
  y = (1 - c.share) * z + (c.keep * shared + c.take * z);
}

struct ScheduleFreeSgdRule {
  static constexpr const char* kName = "schedule_free_sgd";
  static constexpr int kSlots = 1;
  static constexpr bool kWeighsSteps = true;
  double share;
  double evaluatedShare() const { return share; }

  template <class T>
  struct Constants {
    ScheduleFreeConstants<T> common;
  };

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    return {scheduleFreeConstants<T>(s, share)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&slots)[kMostSlots]) {
    scheduleFreeStep<T>(c.common, w, slots[0], c.common.scale * g + c.common.decay * w);
  }
};

// Slots: z, and the mean of squares v.
struct ScheduleFreeAdamWRule {
  static constexpr const char* kName = "schedule_free_adamw";
  static constexpr int kSlots = 2;
  static constexpr bool kWeighsSteps = true;
  double share, beta2, epsilon;
  double evaluatedShare() const { return share; }

  template <class T>
  struct Constants {
    ScheduleFreeConstants<T> common;
    T beta2, take2, inverseRoot, epsilon;
  };

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    return {.common = scheduleFreeConstants<T>(s, share),
            .beta2 = T(beta2),
            .take2 = T(1 - beta2),
            .inverseRoot = T(1 / std::sqrt(1 - std::pow(beta2, static_cast<double>(s.step)))),
            .epsilon = T(epsilon)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&slots)[kMostSlots]) {
    const T gradient = c.common.scale * g;
    T& v = slots[1];
    v = c.beta2 * v + c.take2 * gradient * gradient;
    const T direction = gradient / (std::sqrt(v) * c.inverseRoot + c.epsilon) + c.common.decay * w;
    scheduleFreeStep<T>(c.common, w, slots[0], direction);
  }
};

}  // namespace loom
