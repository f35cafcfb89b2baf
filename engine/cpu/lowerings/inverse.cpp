// inverse: a matrix is one thread's work, in place in double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/cpu/lowerings/lowerings.h"

namespace loom::cpu {
namespace {

// Gauss-Jordan with the largest pivot of each column: a becomes its inverse, row by row; false where it has none.
bool invert(double* a, std::int64_t n, std::int64_t* pivots) {
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k])) pivot = i;
    pivots[k] = pivot;
    double* const row = a + k * n;
    if (pivot != k) std::swap_ranges(row, row + n, a + pivot * n);
    if (!(std::abs(row[k]) > 0)) return false;
    const double scale = 1 / row[k];
    row[k] = 1;
    for (std::int64_t j = 0; j < n; ++j) row[j] *= scale;
    for (std::int64_t i = 0; i < n; ++i) {
      if (i == k) continue;
      double* const other = a + i * n;
      const double factor = other[k];
      other[k] = 0;
      for (std::int64_t j = 0; j < n; ++j) other[j] -= factor * row[j];
    }
  }
  // Rows that were exchanged before are columns that must be exchanged behind, the last first.
  for (std::int64_t k = n; k-- > 0;)
    for (std::int64_t i = 0; pivots[k] != k && i < n; ++i) std::swap(a[i * n + k], a[i * n + pivots[k]]);
  return true;
}

}  // namespace

void lowerInverse(Plan& plan, const Operation& operation) {
  const TensorId x = operation.inputs[0];
  const std::int64_t n = plan.shape(x)[-1], matrices = plan.shape(x).elements() / (n * n);
  const auto from = plan.read(x), to = plan.write(operation.outputs[0]);
  const std::int64_t numbers = n * n + n;  // of a thread: a matrix in double, its pivots
  const auto scratch = plan.scratchOfThreads(2 * numbers);
  plan.stage("inverse", [=](const Worker& worker) {
    double* const a = reinterpret_cast<double*>(scratch.of(worker.thread));
    auto* const pivots = reinterpret_cast<std::int64_t*>(a + n * n);
    const auto [first, last] = worker.share(matrices);
    for (std::int64_t matrix = first; matrix < last; ++matrix) {
      std::copy_n(from.get() + matrix * n * n, n * n, a);
      if (!invert(a, n, pivots)) std::fill_n(a, n * n, std::numeric_limits<double>::quiet_NaN());
      std::transform(a, a + n * n, to.get() + matrix * n * n, [](double value) { return static_cast<float>(value); });
    }
  });
}

}  // namespace loom::cpu
