#pragma once
#include "engine/optimizers/rules/lamb.h"
#include "engine/optimizers/rules/lars.h"

namespace loom {

// LAMB that becomes LARS: both see every gradient and keep their own state; with a the share of the transition,
//   w -= (1 - a) · what LAMB takes + a · LARS's buffer.
// Slots: LAMB's m and v, LARS's buffer.
struct StillRule {
  static constexpr const char* kName = "still";
  static constexpr int kSlots = 3;
  static constexpr bool kFollowsEpochs = true;
  LambRule lamb;
  LarsRule lars;  // rate inside of the buffer
  double lambRate, epochs;

  template <class T>
  struct Constants {
    LambRule::Constants<T> lamb;
    LarsRule::Constants<T> lars;
    T ofLamb, ofLars;
  };

  // Of LARS.
  LOOM_DEVICE_INLINE double share(double epoch) const { return epoch < epochs ? epoch / epochs : 1; }

  LOOM_DEVICE_INLINE double lambRatio(const UpdateSums& sums, const UpdateScalars& s) const {
    return lamb.tensorScale(sums, s);
  }
  LOOM_DEVICE_INLINE double larsRatio(const UpdateSums& sums, const UpdateScalars& s) const {
    return lars.tensorScale({.weight = sums.weight, .direction = sums.gradient}, s);
  }

  template <class T>
  LOOM_DEVICE_INLINE Constants<T> constants(const UpdateScalars& s) const {
    UpdateScalars ofLamb = s, ofLars = s;
    ofLamb.learningRate = lambRate;
    ofLamb.tensorScale = lambRatio(s.sums, s);
    ofLars.tensorScale = larsRatio(s.sums, s);
    const double a = share(s.epoch);
    return {.lamb = lamb.constants<T>(ofLamb), .lars = lars.constants<T>(ofLars), .ofLamb = T(1 - a), .ofLars = T(a)};
  }

  template <class T>
  static LOOM_DEVICE_INLINE UpdateSums gather(const Constants<T>& c, T w, T g, T (&slots)[kMostSlots]) {
    return LambRule::gather(c.lamb, w, g, slots);
  }

  // What is told of it: the ratio of the rule that is to be left, then of the one that remains.
  LOOM_DEVICE_INLINE double tensorScale(const UpdateSums& sums, const UpdateScalars& s) const {
    return share(s.epoch) < 1 ? lambRatio(sums, s) : larsRatio(sums, s);
  }

  template <class T>
  static LOOM_DEVICE_INLINE void update(const Constants<T>& c, T& w, T g, T (&slots)[kMostSlots]) {
    const T u = LambRule::direction(c.lamb, w, slots[0], slots[1]);
    T& v = slots[2];
    v = c.lars.keep * v + c.lars.take * (c.lars.scale * g + c.lars.decay * w);
    w -= c.ofLamb * c.lamb.rate * u + c.ofLars * c.lars.rate * v;
  }
};

}  // namespace loom
