#include "engine/cpu/kernels/resample.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/cpu/kernels/simd.h"

namespace loom::cpu {
namespace {

LOOM_INLINE void addWeightedRangeBody(const WeightedRow& row, Stored from, std::int64_t size, Stored to) {
  for (std::int64_t i = 0; i < size; i += kLanes) {
    const std::int64_t n = size - i;
    Vec sum = splat(row.entries == 0 ? row.fill : 0);
    for (std::int64_t k = 0; k < row.entries; ++k) {
      const Vec x = loadSome(from, row.places[k] * size + i, n);
      sum += row.weights == nullptr ? x : x * row.weights[k];
    }
    storeSome(to, i, sum, n);
  }
}

LOOM_CPU_KERNEL(void, addWeightedRange, (const WeightedRow& row, Stored from, std::int64_t size, Stored to),
                (row, from, size, to))

}  // namespace

void addWeighted(const WeightedRow& row, Stored from, std::int64_t size, Stored to) {
  if (size == 1) {  // a vector would hold one number
    float sum = row.entries == 0 ? row.fill : 0;
    for (std::int64_t k = 0; k < row.entries; ++k)
      sum += numberAt(from, row.places[k]) * (row.weights == nullptr ? 1 : row.weights[k]);
    copyStored(inF32(&sum), to, 1);
  } else if (row.entries == 1 && row.weights == nullptr) {
    copyStored(from.from(row.places[0] * size), to, size);
  } else {
    addWeightedRange(row, from, size, to);
  }
}

void firstInOrder(const float* x, std::int64_t n, std::int64_t k, bool falling, std::int32_t* order, float* values,
                  float* places) {
  std::iota(order, order + n, 0);
  std::partial_sort(order, order + k, order + n, [&](std::int32_t a, std::int32_t b) {
    const bool nanA = std::isnan(x[a]), nanB = std::isnan(x[b]);
    if (nanA != nanB) return nanA;
    if (!nanA && x[a] != x[b]) return falling ? x[a] > x[b] : x[a] < x[b];
    return a < b;
  });
  for (std::int64_t i = 0; i < k; ++i) {
    values[i] = x[order[i]];
    places[i] = static_cast<float>(order[i]);
  }
}

}  // namespace loom::cpu
