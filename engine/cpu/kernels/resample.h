#pragma once
// Weighted sums of rows, and the first in order of a row; single-threaded.
#include <cstdint>

#include "engine/cpu/kernels/stored.h"

namespace loom::cpu {

// to[i] = sum over the entries k of weights[k] from[places[k] * size + i] for i < size; `fill` where there are none.
// `weights` null: all 1.
struct WeightedRow {
  const std::int64_t* places = nullptr;
  const float* weights = nullptr;
  std::int64_t entries = 0;
  float fill = 0;
};
void addWeighted(const WeightedRow& row, Stored from, std::int64_t size, Stored to);

// The first k of n numbers in falling (else rising) order, and their places as numbers. Of equal ones the first comes
// first, a NaN before all others. `order` is room for n.
void firstInOrder(const float* x, std::int64_t n, std::int64_t k, bool falling, std::int32_t* order, float* values,
                  float* places);

}  // namespace loom::cpu
