#pragma once
// An update rule: prepare -> reductions (per tensor or global) -> elementwise update. Written once; a backend runs the
// elementwise part over ranges in parallel. State is kept in the parameter store by parameter name and slot name.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/catalogue/entry.h"

namespace loom {

// What changes from step to step; one for all elements of a tensor.
struct UpdateScalars {
  float learningRate = 0;   // after schedule and warm-up
  float weightDecay = 0;    // 0 for what is excluded
  float gradientScale = 1;  // clipping, loss scale, accumulation: g = gradientScale * gradient, first of all
  std::int64_t step = 1;    // number of this update of the tensor, from 1 (bias corrections)
  float tensorScale = 1;    // result of the rule's reductions (LARS and LAMB: the trust ratio)
};

// Elements [0, count) of one tensor.
struct UpdateRange {
  float* weight;
  const float* gradient;
  float* slots[3];
  std::int64_t count;
};

// Sums of squares over a tensor: of its weights, and of what the rule compares them with (LARS: the gradient; LAMB:
// Adam's direction with the decay).
struct UpdateSums {
  double weight = 0, direction = 0;
};

// A rule bound to its hyper-parameters. One that `measures` is called in two passes: measure() over every range of a
// tensor, then update() with the tensorScale() of the sums; measure() may change slots, never weights. Others only get
// update().
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual std::span<const std::string> slots() const = 0;
  virtual void update(const UpdateRange& range, const UpdateScalars& scalars) const = 0;  // one thread, vectorised

  virtual bool measures() const { return false; }
  virtual UpdateSums measure(const UpdateRange&, const UpdateScalars&) const { return {}; }
  virtual double tensorScale(const UpdateSums&, const UpdateScalars&) const { return 1; }
  // Kinds (bias, normalisation) or patterns of names whose tensorScale is 1 whatever their norms.
  virtual std::span<const std::string> unscaled() const { return {}; }
};

struct OptimizerDefinition {
  Entry entry;  // fields: learning_rate, weight_decay and the rule's own, with the defaults users know
  std::unique_ptr<Optimizer> (*make)(const Values& values);
};

std::span<const OptimizerDefinition* const> optimizerTable();
const OptimizerDefinition* findOptimizer(std::string_view name);

}  // namespace loom
