#pragma once
#include <cstdint>

namespace loom::cpu {

// In double, in one order of additions whatever the processor: the same bits.
double sumOfSquares(const float* x, std::int64_t count);

}  // namespace loom::cpu
