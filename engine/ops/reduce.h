#pragma once
// The functions of the op `reduce`, by name.
#include <limits>

#include "engine/program/attributes.h"

namespace loom {

enum class ReduceFunction { sum, mean, maximum, minimum, product };

// Throws Error(badProject) for an unknown name.
ReduceFunction reduceFunctionOf(const Attributes& attributes);
inline bool isSum(ReduceFunction function) {
  return function == ReduceFunction::sum || function == ReduceFunction::mean;
}

// With what a reduction that is no sum begins, and how it takes one more number: a NaN stays.
inline constexpr float beginningOf(ReduceFunction function) {
  return function == ReduceFunction::product   ? 1.0f
         : function == ReduceFunction::maximum ? -std::numeric_limits<float>::infinity()
                                               : std::numeric_limits<float>::infinity();
}

}  // namespace loom
