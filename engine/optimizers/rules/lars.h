#pragma once
#include <cmath>

#include "engine/optimizers/rules/rule.h"

namespace loom {

enum class RatePlace { inside, outside };  // of the buffer

// Slot: the buffer v = keep v + take (scale g + decay w); w -= rate v.
struct LarsRule {
  static constexpr const char* kName = "lars";
  static constexpr int kSlots = 1;
  double momentum, coefficient, epsilon;
  bool clips;
  RatePlace place;

  template <class T>
  struct Constants {
    T scale, decay, keep, take, rate;
  };

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    const bool inside = place == RatePlace::inside;
    return {.scale = T(s.gradientScale),
            .decay = T(s.weightDecay),
            .keep = T(momentum),
            .take = inside ? T(s.learningRate) * T(s.tensorScale) : T(s.tensorScale),
            .rate = inside ? T(1) : T(s.learningRate)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE UpdateSums gather(const Constants<T>&, T w, T g, T (&)[kMostSlots]) {
    return {static_cast<double>(w) * w, static_cast<double>(g) * g};
  }

  LOOM_DEVICE_INLINE double tensorScale(const UpdateSums& sums, const UpdateScalars& s) const {
    const double weight = std::sqrt(sums.weight);
    const double gradient = std::sqrt(sums.direction * (s.gradientScale * s.gradientScale));
    if (weight < epsilon || weight == 0 || gradient == 0) return 1;  // a tensor of zeros must be able to leave zero
    double below = gradient + s.weightDecay * weight;
    if (below < epsilon) below += epsilon;
    const double ratio = coefficient * weight / below;
    if (!clips) return ratio;
    return ratio / s.learningRate > 1 ? 1 : ratio / s.learningRate;
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&slots)[kMostSlots]) {
    T& v = slots[0];
    v = c.keep * v + c.take * (c.scale * g + c.decay * w);
    w -= c.rate * v;
  }
};

}  // namespace loom
