#pragma once
// Rows of numbers to probabilities, and what losses need of them.
#include <cstdint>

namespace loom::cpu {

void softmaxRow(const float* x, float* y, std::int64_t count);
// dx = y (dy - sum(y dy))
void softmaxGradientRow(const float* y, const float* dy, float* dx, std::int64_t count);
// log(sum(e^x)), exact for any size of x.
float logSumExp(const float* x, std::int64_t count);
// y = factor * e^(x - logSum)
void scaledProbabilities(const float* x, float logSum, float factor, float* y, std::int64_t count);

}  // namespace loom::cpu
