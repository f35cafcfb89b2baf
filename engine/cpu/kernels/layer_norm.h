#pragma once
// Layer normalisation and local response normalisation, a row at a time.
#include <cstdint>

namespace loom::cpu {

// y = gamma (x - mean) r + beta over one row; gamma and beta may be null.
void layerNormRow(const float* x, const float* gamma, const float* beta, float epsilon, std::int64_t count, float* y,
                  float* mean, float* inverse);
// dx of one row; adds to dgamma and dbeta.
void layerNormGradientRow(const float* x, const float* dy, const float* gamma, float mean, float inverse,
                          std::int64_t count, float* dx, float* dgamma, float* dbeta);

struct ResponseWindow {
  std::int64_t size;
  float alpha, beta, k;
};
void responseNormRow(const ResponseWindow& window, const float* x, float* y, std::int64_t channels);
void responseNormGradientRow(const ResponseWindow& window, const float* x, const float* dy, float* dx,
                             std::int64_t channels, float* scratch);

}  // namespace loom::cpu
