#pragma once
// Compares the gradients that differentiate() emits with finite differences of the program itself, in double precision:
// the test of every op and of every layer.
#include <cstdint>
#include <functional>
#include <string>

#include "engine/program/evaluator.h"

namespace loom {

struct GradientCheckOptions {
  double step = 1e-5;                   // h of (L(v + h) - L(v - h)) / 2h
  double tolerance = 1e-6;              // of the largest gradient in the tensor (and of 1e-3 where all are smaller)
  std::uint64_t seed = 1;               // of the values
  std::int64_t elementsPerTensor = 64;  // larger tensors are sampled, evenly
};

struct GradientCheck {
  bool passed = true;
  std::int64_t checked = 0;  // elements compared
  std::int64_t kinks = 0;    // elements left out: the differences of two step sizes disagree with each other
  std::int64_t flowing = 0;  // tensors that got a gradient
  double worst = 0;          // largest deviation, relative as in `tolerance`
  std::string message;       // "parameter 'conv/weight' element 3: 0.25 by the gradient, 0.5 by differences"
};

// L = a fixed random projection of all f32 results of `forward` (their first ones suffice, no loss is needed),
// differentiated by every parameter and every f32 input. Parameters and f32 inputs are uniform in [-1, 1), states as
// they are initialised, all else is 0; then `prepare` may set what it likes (labels, ranges).
GradientCheck checkGradients(const Program& forward, const std::function<void(Evaluator&)>& prepare = {},
                             const GradientCheckOptions& options = {});

}  // namespace loom
