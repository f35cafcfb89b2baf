#include "engine/cpu/kernels/squares.h"

#include "engine/cpu/kernels/isa.h"

namespace loom::cpu {
namespace {

// Sixteen sums side by side: the compiler may use its widest registers. (A square is exact in double, so it makes no
// difference whether it is added by a fused instruction.)
LOOM_INLINE double squaresBody(const float* x, std::int64_t count) {
  constexpr int kSums = 16;
  double sums[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums <= count; i += kSums)
    for (int k = 0; k < kSums; ++k) sums[k] += static_cast<double>(x[i + k]) * x[i + k];
  double sum = 0;
  for (; i < count; ++i) sum += static_cast<double>(x[i]) * x[i];
  for (const double part : sums) sum += part;
  return sum;
}

LOOM_CPU_KERNEL(double, squares, (const float* x, std::int64_t count), (x, count))

}  // namespace

double sumOfSquares(const float* x, std::int64_t count) {
  return squares(x, count);
}

}  // namespace loom::cpu
