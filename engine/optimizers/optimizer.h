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

// A rule bound to its hyper-parameters.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  virtual std::span<const std::string> slots() const = 0;
  virtual void update(const UpdateRange& range, const UpdateScalars& scalars) const = 0;  // one thread, vectorised
};

struct OptimizerDefinition {
  Entry entry;  // fields: learning_rate, weight_decay and the rule's own, with the defaults users know
  std::unique_ptr<Optimizer> (*make)(const Values& values);
};

std::span<const OptimizerDefinition* const> optimizerTable();
const OptimizerDefinition* findOptimizer(std::string_view name);

}  // namespace loom
