#pragma once
// What the references of lstm and gru share: extents, the order of time, and products of a matrix with a row.
#include <cmath>

#include "engine/ops/support.h"

namespace loom::ops {

struct RecurrentExtents {
  std::int64_t batch, time, channels, hidden;
};

// x: N x T x C, w_input: gates H x C, w_hidden: gates H x H. Throws Error(badProject) with both numbers.
inline RecurrentExtents recurrentExtents(const TensorSpec& x, const TensorSpec& wInput, const TensorSpec& wHidden,
                                         std::int64_t gates) {
  needFloat("the sequence", x);
  needRank("the sequence (N x T x C)", x, 3, 3);
  needRank("w_hidden", wHidden, 2, 2);
  const RecurrentExtents e{x.shape[0], x.shape[1], x.shape[2], wHidden.shape[1]};
  needShape("w_input", wInput, {gates * e.hidden, e.channels});
  needShape("w_hidden", wHidden, {gates * e.hidden, e.hidden});
  return e;
}

// The t-th step in the order of computation.
inline std::int64_t timeAt(std::int64_t step, std::int64_t time, const Attributes& attributes) {
  return attributes.boolean("reverse", false) ? time - 1 - step : step;
}

inline double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

// out[r] += sum over c of w[r, c] in[c]
inline void addProduct(const double* w, const double* in, double* out, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) out[r] += w[r * columns + c] * in[c];
}

// in[c] += sum over r of w[r, c] out[r]: the product with w transposed
inline void addTransposedProduct(const double* w, const double* out, double* in, std::int64_t rows,
                                 std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) in[c] += w[r * columns + c] * out[r];
}

// dw[r, c] += out[r] in[c]
inline void addOuterProduct(const double* out, const double* in, double* dw, std::int64_t rows, std::int64_t columns) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) dw[r * columns + c] += out[r] * in[c];
}

inline double recurrentMultiplyAdds(const RecurrentExtents& e, std::int64_t gates) {
  return static_cast<double>(e.batch * e.time) * static_cast<double>(gates * e.hidden) *
         static_cast<double>(e.channels + e.hidden);
}

}  // namespace loom::ops
