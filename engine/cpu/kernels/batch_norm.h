#pragma once
// Passes of a batch normalisation over rows x channels, each over a thread's rows. Sums are kept in double between
// blocks of 64 rows, and taken about a shift near the mean, so that neither the number of rows nor a large mean costs
// digits.
#include <cstdint>

#include "engine/cpu/kernels/stored.h"

namespace loom::cpu {

// sums[c] += sum of x - shift[c], squares[c] += sum of (x - shift[c])^2.
void addMoments(Stored x, std::int64_t rows, std::int64_t channels, const float* shift, double* sums, double* squares);

// y = (x - mean) * scale + beta (+ addend), then max(., 0) when `relu`. `addend` may be absent.
struct NormalisePass {
  const float* mean;
  const float* scale;  // gamma * inverse deviation
  const float* beta;
  bool relu = false;
};
void normalise(const NormalisePass& pass, Stored x, Stored addend, Stored y, std::int64_t rows, std::int64_t channels);

// sums[c] += sum of dy, products[c] += sum of dy (x - mean[c]); dy counts where mask > 0 (absent: everywhere).
void addGradientSums(Stored x, Stored dy, Stored mask, std::int64_t rows, std::int64_t channels, const float* mean,
                     double* sums, double* products);

// dx = a dy - b (x - mean) - c
struct GradientPass {
  const float* mean;
  const float* a;
  const float* b;
  const float* c;
};
void normaliseGradient(const GradientPass& pass, Stored x, Stored dy, Stored mask, Stored dx, std::int64_t rows,
                       std::int64_t channels);

}  // namespace loom::cpu
