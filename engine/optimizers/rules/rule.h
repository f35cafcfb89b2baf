#pragma once
// What an update rule is made of, whoever compiles it: the host's loops, the references in double, a device's kernels.
// Nothing in this folder includes the catalogue or a vendor's header.
//
// A rule is a plain struct of its hyper-parameters. T is float on machines and double in references:
//   static constexpr const char* kName;                      what its kernels are called by
//   static constexpr int kSlots;                             numbers that it keeps for each weight, 0 at first
//   template <class T> struct Constants;                     what all elements of a tensor share in a step
//   template <class T> Constants<T> constants(const UpdateScalars&) const;
//   template <class T> static void update(const Constants<T>&, T& weight, T gradient, T (&slots)[kMostSlots]);
// One with a trust ratio has besides, for what comes before update():
//   template <class T> static UpdateSums gather(const Constants<T>&, T weight, T gradient, T (&slots)[kMostSlots]);
//   double tensorScale(const UpdateSums&, const UpdateScalars&) const;
// gather() answers what an element adds to the sums over its tensor and may change slots, never weights; tensorScale()
// makes the ratio of the sums, which update() finds in the scalars; constants() sees the sums besides.
// One that changes on its way from warm-up to the rest of the run says so, and is told the epoch:
//   static constexpr bool kFollowsEpochs = true;
// One that averages its own steps finds this step's share of the average there; with y the weight and z its first slot,
// x = (y - (1 - s) z) / s is what is evaluated, and z begins as the weight:
//   static constexpr bool kWeighsSteps = true;
//   double evaluatedShare() const;                            s
#include <cstdint>

#include "engine/base/device_inline.h"

namespace loom {

inline constexpr int kMostSlots = 3;

// Sums of squares over a tensor: of its weights, of what the rule compares them with (LARS: the gradient, not yet
// scaled; LAMB: Adam's direction with the decay), and of the gradient, not yet scaled, which are there for every rule.
struct UpdateSums {
  double weight = 0, direction = 0, gradient = 0;
};

// What changes from step to step; one for all elements of a tensor. A machine that computes in float rounds each to
// float first, as a rule's constants do.
struct UpdateScalars {
  double learningRate = 0;   // after schedule and warm-up
  double weightDecay = 0;    // 0 for what is excluded
  double gradientScale = 1;  // clipping, loss scale, accumulation: g = gradientScale * gradient, first of all
  std::int64_t step = 1;     // number of this update of the tensor, from 1 (bias corrections)
  double tensorScale = 1;    // result of the rule's reductions (LARS and LAMB: the trust ratio)
  double epoch = 0;          // epochs done, for rules that follow them; or a step's share (kWeighsSteps)
  // Of the tensor, where a trust ratio is to scale it: once they are known, else 0. For rules with two ratios.
  UpdateSums sums;
};

// What gradients are multiplied with so that their common norm stays below `most` (infinity: any): PyTorch's
// clip_grad_norm_.
LOOM_DEVICE_INLINE double clipScale(double norm, double most) {
  const double scale = most / (norm + 1e-6);
  return scale < 1 ? scale : 1;
}

}  // namespace loom
